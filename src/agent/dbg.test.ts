import { it } from "node:test";
import { holdClock, releaseClock, Stage } from "./stage.test-kit.ts";
it("dbg", async () => {
  holdClock();
  const stage = new Stage();
  await stage.converge();
    stage.cluster.connection = "deaf";
    for (let i=0;i<12;i++){ await stage.advance(10_000);
    console.log(i, stage.host.mutations, stage.cluster.writes.length, JSON.stringify(stage.cluster.writes.at(-1)), stage.device.peers.length, stage.cluster.nodes.get("b1")?.metadata.annotations?.["kilo.squat.ai/last-seen"],stage.cluster.nodes.get("a1")?.metadata.annotations?.["kilo.squat.ai/last-seen"]);
    }
  await stage.agent.stop(); releaseClock();
});
