import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { leakFilter } from "./capture.ts";
import { changedPeers, readPeerConfiguration } from "./peer-configuration.ts";
import { readPing } from "./prober/index.ts";
import { readStream } from "./stream.ts";

describe("what ping prints", () => {
  const cases: Record<string, [string, object]> = {
    "an answer": ["64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.345 ms\n", { rtt: 0.345 }],
    "no answer": [
      "PING 10.0.0.1\n\n1 packets transmitted, 0 received, 100% packet loss\n",
      { reason: "no answer" },
    ],
    "a packet too long for the own link": [
      "ping: local error: message too long, mtu=1420\n",
      { reason: "local error: message too long, mtu=1420" },
    ],
    "a router's complaint": [
      "From 10.0.0.254 icmp_seq=1 Destination Host Unreachable\n",
      { reason: "Destination Host Unreachable" },
    ],
    "no route": ["ping: connect: Network is unreachable\n", { reason: "connect: Network is unreachable" }],
  };
  for (const [name, [output, expected]] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(readPing(output), expected));
  }
});

describe("what fping prints for a stream", () => {
  const line = (at: number, sequence: number): string =>
    `[${(1000 + at / 1000).toFixed(5)}] 10.244.2.2 : [${sequence}], 64 bytes, 0.40 ms (0.40 avg, 0% loss)`;
  const summary = (sent: number): string => `\n10.244.2.2 : xmt/rcv/%loss = ${sent}/0/0%`;

  test("counts what was lost, and the longest silence", () => {
    const output = [
      line(0, 0),
      line(10, 1),
      "[1000.5] 10.244.2.2 : [2], timed out (0.4 avg, 33% loss)",
      line(60, 6),
    ];
    assert.deepEqual(readStream([...output, summary(7)].join("\n"), 0), {
      sent: 7,
      received: 3,
      lost: 4,
      longestGap: 50,
    });
  });

  test("does not judge the last pings, which may be under way", () => {
    const output = [line(0, 0), line(10, 1), line(20, 2), summary(5)].join("\n");
    assert.deepEqual(readStream(output, 2), { sent: 3, received: 3, lost: 0, longestGap: 10 });
  });

  test("counts an answer once", () => {
    const output = [line(0, 0), line(1, 0), summary(1)].join("\n");
    assert.equal(readStream(output, 0).received, 1);
  });
});

describe("a peer's configuration", () => {
  const text = `[Interface]
# PrivateKey = (only laptop has it)
Address = 10.5.0.1/32
MTU = 1420

# Node north-1, leader of location:north
[Peer]
AllowedIPs = 10.244.1.0/24, 10.4.0.1/32
Endpoint = 203.0.113.11:51820
PersistentKeepalive = 10
PublicKey = AAAA=
`;

  test("is taken apart into what wg and ip need", () => {
    assert.deepEqual(readPeerConfiguration(text, "KEY="), {
      device: [
        "[Interface]",
        "PrivateKey = KEY=",
        "[Peer]",
        "AllowedIPs = 10.244.1.0/24, 10.4.0.1/32",
        "Endpoint = 203.0.113.11:51820",
        "PersistentKeepalive = 10",
        "PublicKey = AAAA=",
        "",
      ].join("\n"),
      addresses: ["10.5.0.1/32"],
      mtu: 1420,
      allowedIPs: ["10.244.1.0/24", "10.4.0.1/32"],
    });
  });

  test("gets an interface when it has none, and loses comments and placeholders", () => {
    const read = readPeerConfiguration("# for a laptop\n[Peer]\nPublicKey = AAAA= # hub\n", "KEY=");
    assert.equal(read.device, "[Interface]\nPrivateKey = KEY=\n[Peer]\nPublicKey = AAAA=\n");
    const replaced = readPeerConfiguration("[Interface]\nPrivateKey = (yours)\nMTU = 1380\n", "KEY=");
    assert.equal(replaced.device, "[Interface]\nPrivateKey = KEY=\n");
    assert.equal(replaced.mtu, 1380);
  });

  test("touches only the peers that differ when it changes", () => {
    const peer = (key: string, allowed: string): string =>
      `[Peer]\nPublicKey = ${key}\nEndpoint = 203.0.113.11:51820\nAllowedIPs = ${allowed}\nPersistentKeepalive = 10\n`;
    const from = `[Interface]\nPrivateKey = KEY=\n${peer("A=", "10.1.0.0/24")}${peer("B=", "10.2.0.0/24")}${peer("C=", "10.3.0.0/24")}`;
    const to = `[Interface]\nPrivateKey = KEY=\n${peer("A=", "10.1.0.0/24")}${peer("B=", "10.2.0.0/24, 10.4.0.0/24")}[Peer]\nPublicKey = D=\n`;
    assert.deepEqual(changedPeers(from, from), []);
    assert.equal(
      changedPeers(from, to).join(" "),
      "peer C= remove" +
        " peer B= endpoint 203.0.113.11:51820 persistent-keepalive 10 allowed-ips 10.2.0.0/24,10.4.0.0/24" +
        " peer D= persistent-keepalive off allowed-ips ",
    );
  });
});

test("the leak filter knows private and mesh addresses and what is allowed", () => {
  const filter = leakFilter(["10.244.0.0/16"], [6443]);
  assert.match(filter, /net 192\.168\.0\.0\/16/);
  assert.match(filter, /net 10\.244\.0\.0\/16/);
  assert.match(filter, /not \(icmp or icmp6 or \(.*\) or udp or tcp port 6443\)/);
  assert.match(leakFilter([], []), /or udp\)\)$/);
});

test("the leak filter sees IPv6 too", () => {
  const filter = leakFilter(["fd00:10::/64", "2001:db8:244::/48"], [6443]);
  assert.match(filter, /^\(ip or ip6\) and/);
  assert.match(filter, /net fc00::\/7 or net fd00:10::\/64 or net 2001:db8:244::\/48/);
});
