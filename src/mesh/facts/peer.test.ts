/** Translation of Peers: kilo.md §3.3, and where the reports want something else. */
import assert from "node:assert/strict";
import test from "node:test";
import { formatEndpoint } from "../../wireguard/index.ts";
import { K1, KP, peer } from "../fixtures.test-kit.ts";
import type { PeerObject } from "../objects.ts";
import { peerFacts } from "./peer.ts";
import { isReadyPeer, whyPeerNotReady } from "./readiness.ts";

function read(spec: PeerObject["spec"]) {
  const { facts, problems } = peerFacts(peer("p", spec));
  return {
    facts,
    written: facts.writtenAllowedIPs.map(({ text }) => text),
    allowed: facts.allowedIPs.map(({ text }) => text),
    endpoint: facts.endpoint && formatEndpoint(facts.endpoint),
    reasons: problems.map(({ reason }) => reason),
    why: whyPeerNotReady(facts)?.reason,
  };
}

test("kilo.md §3.3: allowed IPs that cannot be read are passed over, the others stay", () => {
  assert.deepEqual(read({ allowedIPs: ["10.0.0.1", "foo"] }).written, []);
  const some = read({ publicKey: KP, allowedIPs: ["foo", "10.0.0.1/24", "10.0.0.2/32"] });
  assert.deepEqual(some.written, ["10.0.0.1/24", "10.0.0.2/32"]);
  assert.deepEqual(some.reasons, ["peer-invalid", "host-bits-masked"]);
  assert.equal(some.why, undefined);
});

test("kilo.md §3.3: endpoints", () => {
  assert.equal(read({ endpoint: { dnsOrIP: { ip: "foo" }, port: 1 } }).endpoint, undefined);
  assert.equal(read({ endpoint: { port: 51820 } }).endpoint, undefined);
  assert.equal(
    read({ endpoint: { dnsOrIP: { dns: "home.example" }, port: 51820 } }).endpoint,
    "home.example:51820",
  );
});

test("kilo.md §3.3: keepalive in seconds, below zero is off (K-19)", () => {
  assert.equal(read({ persistentKeepalive: -1 }).facts.persistentKeepalive, 0);
  assert.equal(read({ persistentKeepalive: 1 }).facts.persistentKeepalive, 1);
  assert.equal(read({ persistentKeepalive: 10 }).facts.persistentKeepalive, 10);
});

test("S-06: where an endpoint has both, the address wins over the name", () => {
  const { endpoint } = read({
    endpoint: { dnsOrIP: { ip: "198.51.100.7", dns: "home.example" }, port: 51820 },
  });
  assert.equal(endpoint, "198.51.100.7:51820");
});

test("K-89: the older shape of an endpoint is read", () => {
  assert.equal(read({ endpoint: { ip: "198.51.100.7", port: 51820 } }).endpoint, "198.51.100.7:51820");
});

test("S-02: host bits are cleared, once, and told", () => {
  const { allowed, reasons } = read({ allowedIPs: ["10.5.0.1/24", "10.5.0.2/24"] });
  assert.deepEqual(allowed, ["10.5.0.0/24"]);
  assert.deepEqual(reasons, ["host-bits-masked", "host-bits-masked"]);
});

test("a preshared key that cannot be read keeps the Peer out, and never stands in a message (B31)", () => {
  const secret = "not-a-key-but-secret";
  const { facts, problems } = peerFacts(
    peer("p", { publicKey: KP, allowedIPs: ["10.5.0.1/32"], presharedKey: secret }),
  );
  assert.equal(isReadyPeer(facts), false);
  assert.ok(!JSON.stringify(problems).includes(secret));
  assert.equal(read({ publicKey: KP, allowedIPs: ["10.5.0.1/32"], presharedKey: K1 }).why, undefined);
});

test("a Peer without key or allowed IP is left out, with the reason", () => {
  assert.equal(read({ allowedIPs: ["10.5.0.1/32"] }).why, "peer-without-key");
  assert.equal(read({ publicKey: KP, allowedIPs: [] }).why, "peer-without-allowed-ips");
  assert.equal(read({ publicKey: KP, allowedIPs: null }).why, "peer-without-allowed-ips");
  assert.equal(
    read({ publicKey: "A".repeat(43).concat("="), allowedIPs: ["10.5.0.1/32"] }).why,
    "peer-without-key",
  );
  assert.equal(read(undefined).why, "peer-without-key");
});
