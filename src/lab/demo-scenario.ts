/** The demo: two clouds of two nodes each, a node at home behind NAT, and a laptop that calls in from a café. */
import type { Scenario } from "./scenario.ts";

/** Seconds between keepalives of what is behind NAT or has no endpoint: below the 30 s after which routers forget UDP flows. */
const KEEPALIVE = 10;

export const DEMO: Scenario = {
  name: "demo",
  places: [
    {
      name: "north",
      lan: "10.1.0.0/24",
      hosts: [
        { name: "north-1", public: "203.0.113.11", role: { kind: "node", podCIDR: "10.244.1.0/24" } },
        { name: "north-2", public: "203.0.113.12", role: { kind: "node", podCIDR: "10.244.2.0/24" } },
      ],
    },
    {
      name: "south",
      lan: "10.2.0.0/24",
      hosts: [
        { name: "south-1", public: "203.0.113.21", role: { kind: "node", podCIDR: "10.244.3.0/24" } },
        { name: "south-2", public: "203.0.113.22", role: { kind: "node", podCIDR: "10.244.4.0/24" } },
      ],
    },
    {
      name: "home",
      lan: "192.168.1.0/24",
      nat: { address: "198.51.100.7" },
      hosts: [
        {
          name: "home-1",
          role: {
            kind: "node",
            podCIDR: "10.244.5.0/24",
            annotations: { "kilo.squat.ai/persistent-keepalive": String(KEEPALIVE) },
          },
        },
      ],
    },
  ],
  hosts: [
    { name: "api", public: "203.0.113.2", role: { kind: "control-plane" } },
    {
      name: "laptop",
      public: "198.51.100.200",
      role: { kind: "peer", allowedIPs: ["10.5.0.1/32"], persistentKeepalive: KEEPALIVE },
    },
  ],
};

/** Kilo's default pool of tunnel addresses, with which the demo's agents run. */
export const DEMO_SUBNET = "10.4.0.0/16";

/** Kilo's defaults but for the encapsulation, which this kernel may lack and a place with one LAN does not need. */
export const DEMO_KG_FLAGS = ["--encapsulate=never", "--mesh-granularity=location"];
