import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { createMemoryHost } from "../linux/index.ts";
import { createLogger } from "../telemetry/index.ts";
import type { PublicKey } from "../wireguard/index.ts";
import { DeviceWatch } from "./device-watch.ts";
import { createAgentMetrics } from "./metrics.ts";
import { key, peer } from "./peers.test-kit.ts";

/** Unix seconds. */
const NOW = 1_767_225_600;

describe("a host that is reached at another address", () => {
  /** Everybody has a fresh session: nothing but a move is a reason to look again. */
  const device = { listenPort: 51820, peers: [peer(1, NOW), peer(2, NOW)] };
  let announced: PublicKey[][];
  let announce: () => Promise<number>;
  let watch: DeviceWatch;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: NOW * 1000 });
    announced = [];
    announce = async () => 2;
    const host = createMemoryHost();
    host.readDevice = async () => device;
    watch = new DeviceWatch({
      parts: {
        host,
        caller: {
          renew: async () => 0,
          announce: (keys) => {
            announced.push([...keys]);
            return announce();
          },
        },
        log: createLogger({ level: "none" }),
        metrics: createAgentMetrics(),
      },
      onLearned: () => undefined,
    });
  });

  afterEach(async () => {
    await watch.stop();
    mock.timers.reset();
  });

  it("tells every peer once", async () => {
    watch.moved();
    watch.planned(device);
    await advance(5_000);
    assert.deepEqual(announced, [[key(1), key(2)]]);
  });

  it("moves again while the peers are being told: they are told again within a second", async () => {
    let end = (_count: number) => {};
    announce = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    watch.moved();
    watch.planned(device);
    await advance(100);
    watch.moved();
    announce = async () => 2;
    end(2);
    await advance(1_100);
    assert.equal(announced.length, 2);
    await advance(5_000);
    assert.equal(announced.length, 2);
  });

  it("cannot tell its peers: it is tried again after a second, without another pass", async () => {
    announce = () => Promise.reject(new Error("the device does not answer"));
    watch.moved();
    watch.planned(device);
    await advance(100);
    assert.equal(announced.length, 1);
    announce = async () => 2;
    await advance(1_100);
    assert.equal(announced.length, 2);
    await advance(5_000);
    assert.equal(announced.length, 2);
  });
});

async function advance(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 50) {
    mock.timers.tick(50);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
