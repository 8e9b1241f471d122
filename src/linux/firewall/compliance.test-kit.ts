/** What every FirewallDriver must do: the same suite for the real one (in a network namespace) and for its twin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mergePrefixes, type Prefix, parsePrefix } from "../../ip/index.ts";
import { type Firewall, type LinkRole, SET_NAMES, type SetChange, type SetName } from "../../mesh/index.ts";
import type { FirewallDriver } from "../ports.ts";

/** A firewall with these prefixes in its sets; the others are empty. */
export function firewallWith(
  sets: Partial<Record<SetName, readonly string[]>>,
  remoteInternalLink?: LinkRole,
): Firewall {
  const filled = SET_NAMES.map((name) => [name, mergePrefixes(prefixList(sets[name] ?? []))] as const);
  return { sets: Object.fromEntries(filled) as Record<SetName, Prefix[]>, remoteInternalLink };
}

export function prefixList(texts: readonly string[]): Prefix[] {
  return texts.map((text) => {
    const prefix = parsePrefix(text);
    assert.ok(prefix !== undefined, text);
    return prefix;
  });
}

/** The smallest change between two lists, as the plan's diff makes it. */
export function setChange(set: SetName, before: Firewall, after: Firewall): SetChange {
  const old = new Set(before.sets[set].map((prefix) => prefix.text));
  const wanted = new Set(after.sets[set].map((prefix) => prefix.text));
  return {
    set,
    add: after.sets[set].filter((prefix) => !old.has(prefix.text)),
    remove: before.sets[set].filter((prefix) => !wanted.has(prefix.text)),
  };
}

export interface Subject {
  readonly driver: FirewallDriver;
  /** Transactions so far. */
  readonly mutations: () => number;
  /** Another program deletes everything. */
  readonly flush: () => Promise<void>;
  /** Another program drops what is forwarded. Resolves when that must have been told. */
  readonly dropForwarded: () => Promise<void>;
}

/** Defines the tests. `make`: a driver whose table is missing. */
export function firewallCompliance(name: string, make: () => Subject): void {
  const signal = new AbortController().signal;
  const some = firewallWith(
    {
      masquerade_from: ["10.2.0.0/24"],
      keep_source: ["10.2.0.0/16", "10.4.0.1/32"],
      remote_internal: ["10.1.0.0/32"],
    },
    "mesh",
  );

  test(`${name}: no table is undefined, and removing it removes nothing`, async () => {
    const { driver, mutations } = make();
    assert.equal(await driver.read(), undefined);
    assert.deepEqual(await driver.remove(), []);
    assert.equal(mutations(), 0);
    driver.close();
  });

  test(`${name}: what is replaced is read back, in one transaction`, async () => {
    const { driver, mutations } = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    assert.deepEqual(await driver.read(), some);
    const other = firewallWith({
      keep_source: ["fd00::/8", "10.0.0.0/8"],
      location_ips: ["0.0.0.0/0"],
      location_nodes: ["1.2.3.4/32"],
    });
    await driver.apply({ kind: "replace", firewall: other }, signal);
    assert.deepEqual(await driver.read(), other);
    assert.equal(mutations(), 2);
    await driver.remove();
    driver.close();
  });

  test(`${name}: elements come and go, in one transaction for all sets`, async () => {
    const { driver, mutations } = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    const next = firewallWith(
      {
        masquerade_from: ["10.2.0.0/24", "10.5.0.0/24"],
        keep_source: ["10.2.0.0/15", "10.4.0.2/32"],
        remote_internal: [],
      },
      "mesh",
    );
    await driver.apply(
      { kind: "elements", sets: SET_NAMES.map((set) => setChange(set, some, next)) },
      signal,
    );
    assert.deepEqual(await driver.read(), next);
    assert.equal(mutations(), 2);
    await driver.remove();
    driver.close();
  });

  test(`${name}: the first IPv6 prefix, and the last one gone`, async () => {
    const { driver } = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    const add = prefixList(["fd00:1::/64"]);
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add, remove: [] }] }, signal);
    assert.deepEqual((await driver.read())?.sets.keep_source, [...some.sets.keep_source, ...add]);
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add: [], remove: add }] }, signal);
    assert.deepEqual(await driver.read(), some);
    await driver.remove();
    driver.close();
  });

  test(`${name}: nothing to change is no transaction`, async () => {
    const { driver, mutations } = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    const before = mutations();
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add: [], remove: [] }] }, signal);
    await driver.apply({ kind: "elements", sets: [] }, signal);
    assert.equal(mutations(), before);
    await driver.remove();
    driver.close();
  });

  test(`${name}: elements of a missing table are refused`, async () => {
    const { driver } = make();
    const add = prefixList(["10.0.0.0/8"]);
    await assert.rejects(
      driver.apply({ kind: "elements", sets: [{ set: "keep_source", add, remove: [] }] }, signal),
      {
        code: "FIREWALL_CHANGED",
      },
    );
    driver.close();
  });

  test(`${name}: somebody flushes everything: told once, and the table is missing; own changes are not told`, async () => {
    const { driver, flush } = make();
    let told = 0;
    const end = driver.watch(() => told++);
    await driver.apply({ kind: "replace", firewall: some }, signal);
    const add = prefixList(["10.9.0.0/16"]);
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add, remove: [] }] }, signal);
    assert.equal(told, 0);
    await flush();
    assert.equal(told, 1);
    assert.equal(await driver.read(), undefined);
    end();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    await flush();
    assert.equal(told, 1, "who does not listen any more is not told");
    driver.close();
  });

  test(`${name}: a foreign firewall's drop in FORWARD is told when it comes (K-60)`, async () => {
    const { driver, dropForwarded } = make();
    let told = 0;
    const end = driver.watchForeign(() => told++);
    assert.deepEqual(await driver.foreignForwardDrops(), []);
    await driver.apply({ kind: "replace", firewall: some }, signal);
    assert.equal(told, 0, "our own table is not foreign");
    await dropForwarded();
    assert.equal(told, 1);
    assert.equal((await driver.foreignForwardDrops()).length, 1);
    end();
    await driver.remove();
    driver.close();
  });

  test(`${name}: removal says what was removed`, async () => {
    const { driver } = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    assert.equal((await driver.remove()).length, 1);
    assert.equal(await driver.read(), undefined);
    driver.close();
  });

  test(`${name}: an aborted change throws the signal's reason`, async () => {
    const { driver } = make();
    await assert.rejects(
      driver.apply({ kind: "replace", firewall: some }, AbortSignal.abort(new Error("stopped"))),
      /stopped/,
    );
    assert.equal(await driver.read(), undefined);
    driver.close();
  });
}
