import assert from "node:assert/strict";
import { it } from "node:test";
import { HostError } from "./host-error.ts";
import { isTaken, takeLink } from "./only-one.ts";

it("a second kg for the same link is refused, one for another link is not, and the first one's end frees it", async () => {
  const link = `t${process.pid}`;
  assert.equal(await isTaken(link), false);
  const release = await takeLink(link);
  assert.equal(await isTaken(link), true);
  await assert.rejects(takeLink(link), (error) => error instanceof HostError && error.message.includes(link));
  const other = await takeLink(`${link}-2`);
  await other();
  await release();
  assert.equal(await isTaken(link), false);
  await (await takeLink(link))();
});
