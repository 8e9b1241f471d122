import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseInterfaceAddress } from "../ip/index.ts";
import { parseEndpoint } from "./endpoint.ts";
import { config, endpoint, key, peer, secret } from "./fixtures.test-kit.ts";
import { type ConfigText, renderConfig } from "./text.ts";

describe("renderConfig writes Kilo's INI form (kilo.md §10.2)", () => {
  it("showconf peer b of the fixture", () => {
    const shown = config(
      peer(1, ["10.2.1.0/24", "192.168.0.1/32", "10.4.0.1/32"], { endpoint: endpoint("10.1.0.1:51820") }),
      peer(
        2,
        ["10.2.2.0/24", "192.168.0.1/32", "10.2.3.0/24", "192.168.0.2/32", "10.4.0.2/32", "192.168.178.3/32"],
        { endpoint: endpoint("10.1.0.2:51820") },
      ),
      peer(4, ["10.2.4.0/24", "10.4.0.3/32"], { endpoint: endpoint("10.1.0.4:51820") }),
      // Kilo writes 10.5.0.1/24 and 10.5.0.2/24, with host bits; a prefix here has none (S-02).
      peer(5, ["10.5.0.1/24"]),
    );
    assert.equal(
      renderConfig(shown, { interface: false }),
      `[Peer]
AllowedIPs = 10.2.1.0/24, 192.168.0.1/32, 10.4.0.1/32
Endpoint = 10.1.0.1:51820
PersistentKeepalive = 0
PublicKey = ${key(1)}

[Peer]
AllowedIPs = 10.2.2.0/24, 192.168.0.1/32, 10.2.3.0/24, 192.168.0.2/32, 10.4.0.2/32, 192.168.178.3/32
Endpoint = 10.1.0.2:51820
PersistentKeepalive = 0
PublicKey = ${key(2)}

[Peer]
AllowedIPs = 10.2.4.0/24, 10.4.0.3/32
Endpoint = 10.1.0.4:51820
PersistentKeepalive = 0
PublicKey = ${key(4)}

[Peer]
AllowedIPs = 10.5.0.0/24
PersistentKeepalive = 0
PublicKey = ${key(5)}
`,
    );
  });

  it("showconf node: an interface with the port and no private key", () => {
    assert.equal(
      renderConfig({ ...config(peer(1, [])), privateKey: secret(9) }),
      `[Interface]
ListenPort = 51820

[Peer]
PersistentKeepalive = 0
PublicKey = ${key(1)}
`,
    );
  });

  it("everything at once, for wg setconf", () => {
    const full: ConfigText = {
      privateKey: secret(9),
      listenPort: 51821,
      peers: [
        peer(1, ["10.0.0.0/8", "fd00::/64"], {
          presharedKey: secret(3),
          endpoint: endpoint("[fd00::1]:51820"),
          persistentKeepalive: 25,
        }),
      ],
    };
    assert.equal(
      renderConfig(full, { revealPrivateKey: true, revealPresharedKeys: true }),
      `[Interface]
PrivateKey = ${secret(9).revealText()}
ListenPort = 51821

[Peer]
AllowedIPs = 10.0.0.0/8, fd00::/64
Endpoint = [fd00::1]:51820
PersistentKeepalive = 25
PresharedKey = ${secret(3).revealText()}
PublicKey = ${key(1)}
`,
    );
  });

  it("no section, no text; an interface alone is one section", () => {
    assert.equal(renderConfig(config(), { interface: false }), "");
    assert.equal(renderConfig(config()), "[Interface]\nListenPort = 51820\n");
  });

  it("a name is written as it is", () => {
    const named = { ...peer(1, []), endpoint: parseEndpoint("home.example:51820") };
    assert.match(renderConfig({ listenPort: 1, peers: [named] }), /^Endpoint = home\.example:51820$/m);
  });
});

it("Peer keepalive taken as nanoseconds, so always 0 (K-19)", () => {
  const shown = renderConfig(config(peer(1, [], { persistentKeepalive: 10 })), { interface: false });
  assert.match(shown, /^PersistentKeepalive = 10$/m);
});

it("secrets are hidden unless asked for by name", () => {
  const secrets: ConfigText = {
    privateKey: secret(9),
    listenPort: 1,
    peers: [peer(1, [], { presharedKey: secret(3) })],
  };
  const hidden = renderConfig(secrets);
  assert.ok(!hidden.includes(secret(9).revealText()) && !hidden.includes(secret(3).revealText()));
  assert.match(hidden, /^# PresharedKey = \(hidden\)$/m);
  const half = renderConfig(secrets, { revealPrivateKey: true });
  assert.ok(half.includes(secret(9).revealText()) && !half.includes(secret(3).revealText()));
});

it("keys of zeros are not written", () => {
  const zeros: ConfigText = {
    privateKey: secret(0),
    listenPort: 1,
    peers: [peer(1, [], { presharedKey: secret(0) })],
  };
  const text = renderConfig(zeros, { revealPrivateKey: true, revealPresharedKeys: true });
  assert.doesNotMatch(text, /PrivateKey|PresharedKey/);
});

it("lines of wg-quick stand in the interface", () => {
  const addresses = ["10.5.0.1/32", "fd00::1/128"].flatMap((text) => parseInterfaceAddress(text) ?? []);
  assert.equal(
    renderConfig(config(), { quick: { addresses, mtu: 1420 } }),
    "[Interface]\nListenPort = 51820\nAddress = 10.5.0.1/32, fd00::1/128\nMTU = 1420\n",
  );
  assert.equal(renderConfig(config(), { quick: { addresses: [] } }), "[Interface]\nListenPort = 51820\n");
});
