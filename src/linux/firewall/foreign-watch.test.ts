import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";
import { ByteWriter } from "../netlink/index.ts";
import { ForeignWatch } from "./foreign-watch.ts";

const INET = 1;
const IP = 2;
const BRIDGE = 7;
const NEWCHAIN = 0x0a03;
const DELCHAIN = 0x0a05;
const NEWRULE = 0x0a06;
const NEWSETELEM = 0x0a0c;
const PREROUTING = 0;
const FORWARD = 2;

describe("foreign firewalls change", () => {
  let watch: ForeignWatch;
  let told: number;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    watch = new ForeignWatch();
    told = 0;
    watch.watch(() => told++);
  });

  afterEach(() => {
    watch.close();
    mock.timers.reset();
  });

  test("a chain at the forward hook is told, once for many, a moment later", () => {
    for (let count = 0; count < 5; count++) watch.take(chain(NEWCHAIN, "FORWARD", { hook: FORWARD }));
    assert.equal(told, 0);
    mock.timers.tick(2_000);
    assert.equal(told, 1);
    mock.timers.tick(60_000);
    assert.equal(told, 1);
  });

  test("what a kube-proxy, CNI plugins and sets write all day is not told", () => {
    watch.found([{ family: "ip", table: "filter", chain: "FORWARD" }]);
    watch.take(chain(NEWCHAIN, "KUBE-SVC-1", {}));
    watch.take(chain(DELCHAIN, "KUBE-SVC-1", {}));
    watch.take(chain(NEWCHAIN, "PREROUTING", { hook: PREROUTING }));
    watch.take(chain(NEWCHAIN, "forward", { hook: FORWARD, family: BRIDGE }));
    watch.take(rule("KUBE-SERVICES"));
    watch.take(rule("FORWARD", INET));
    watch.take({ ...rule("FORWARD"), type: NEWSETELEM });
    mock.timers.tick(60_000);
    assert.equal(told, 0);
  });

  test("rules of a known chain at the forward hook are told, and that it goes", () => {
    watch.found([{ family: "ip", table: "filter", chain: "FORWARD" }]);
    watch.take(rule("FORWARD"));
    mock.timers.tick(2_000);
    watch.take(chain(DELCHAIN, "FORWARD", {}));
    mock.timers.tick(2_000);
    assert.equal(told, 2);
  });

  test("after lost events anything may have changed; who does not listen any more is not told", () => {
    watch.changed();
    mock.timers.tick(2_000);
    assert.equal(told, 1);
    watch.changed();
    watch.close();
    mock.timers.tick(2_000);
    assert.equal(told, 1);
  });
});

function chain(type: number, name: string, { hook, family = IP }: { hook?: number; family?: number }) {
  const payload = header(family).attributeText(1, "filter").attributeText(3, name);
  if (hook !== undefined) {
    payload.nested(4, (nested) => nested.attribute(1, Uint8Array.of(0, 0, 0, hook)));
  }
  return message(type, payload);
}

function rule(name: string, family = IP) {
  return message(NEWRULE, header(family).attributeText(1, "filter").attributeText(2, name));
}

function header(family: number): ByteWriter {
  return new ByteWriter().u8(family).u8(0).u16(0);
}

function message(type: number, payload: ByteWriter) {
  return { type, flags: 0, sequence: 0, portId: 0, payload: payload.finish() };
}
