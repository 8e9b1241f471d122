import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UsageError } from "./errors.ts";
import { parseFlags } from "./flags.ts";
import { agentOptions, KG_FLAGS } from "./kg-flags.ts";
import { KILO_FLAGS } from "./kilo-flags.test-kit.ts";

describe("flags of kg", () => {
  it("are Kilo's, with Kilo's defaults", () => {
    for (const [name, shown] of Object.entries(KILO_FLAGS)) {
      const flag = Object.values(KG_FLAGS).find((known) => known.name === name);
      assert.ok(flag !== undefined, `--${name} is missing`);
      assert.equal(flag.shown, shown, `default of --${name}`);
    }
    const own = Object.values(KG_FLAGS).map(({ name }) => name);
    assert.equal(new Set(own).size, own.length, "a flag stands in the table twice");
  });

  it("make the agent's options", () => {
    const options = parse("--encapsulate=never");
    assert.equal(options.hostname, "system-name");
    assert.equal(options.resyncPeriod, 30);
    assert.equal(options.mtu, "auto");
    assert.equal(options.mesh.subnet.text, "10.4.0.0/16");
    assert.equal(options.mesh.compatibility, "none");
    const given = parse(
      "--encapsulate=never",
      "--hostname=a1",
      "--mtu=1400",
      "--wireguard=kernel",
      "--local=false",
    );
    assert.deepEqual(
      [given.hostname, given.mtu, given.wireguard, given.mesh.local],
      ["a1", 1400, "kernel", false],
    );
  });

  it("an encapsulation that cannot be done is a start error that names the way out", () => {
    refuses([], /cannot use --encapsulate=always: .*--encapsulate=never/);
    refuses(["--encapsulate=crosssubnet"], /cannot use --encapsulate=crosssubnet: .*--encapsulate=never/);
  });

  it("a flag of Kilo's that is not served is refused, not ignored", () => {
    refuses(["--encapsulate=never", "--compatibility=flannel"], /--compatibility=flannel: not served yet/);
    refuses(["--encapsulate=never", "--compatibility=cilium"], /--compatibility=cilium: not served yet/);
    refuses(["--encapsulate=never", "--iptables-forward-rules"], /--iptables-forward-rules: not served/);
    refuses(["--encapsulate=never", "--clean-up-interface"], /`kg clean-up` removes it/);
    refuses(["--backend=etcd"], /--backend: it is one of kubernetes \(etcd\)/);
    for (const cleanUp of ["--clean-up=true", "--clean-up=false"])
      parse("--encapsulate=never", "--iptables-forward-rules=false", cleanUp);
  });

  it("a listen address that is none is refused with the other flags, before anything starts", () => {
    for (const bad of ["foo", "1107", ":65536", "::1:80", ""]) {
      refuses(
        ["--encapsulate=never", `--listen=${bad}`],
        /cannot use --listen: not HOST:PORT, \[IPv6\]:PORT/,
      );
    }
    assert.equal(parse("--encapsulate=never", "--listen=[::1]:0").listen, "[::1]:0");
  });

  it("B47: an unknown --compatibility is refused", () => {
    refuses(["--compatibility=calico"], /--compatibility: it is one of flannel, cilium \(calico\)/);
  });

  it("a link name that the kernel would refuse is refused", () => {
    refuses(
      ["--encapsulate=never", "--interface=sixteen-letters-"],
      /--interface: a link name is 1 to 15 characters/,
    );
    refuses(["--encapsulate=never", "--interface=a/b"], /--interface/);
  });
});

function parse(...args: string[]) {
  return agentOptions(parseFlags(KG_FLAGS, args).values, "system-name");
}

function refuses(args: string[], message: RegExp): void {
  assert.throws(
    () => parse(...args),
    (error) => error instanceof UsageError && message.test(error.message),
  );
}
