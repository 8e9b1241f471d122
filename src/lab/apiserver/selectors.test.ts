import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiObject } from "./json.ts";
import { parseFieldSelector, parseLabelSelector } from "./selectors.ts";
import { ApiError } from "./status.ts";

const isBadRequest = (error: unknown): boolean => error instanceof ApiError && error.httpStatus === 400;

function labelled(labels: Record<string, string>): ApiObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n", labels } };
}

describe("label selectors", () => {
  const object = labelled({ region: "eu", tier: "2", "example.com/x": "" });
  const cases: readonly [string, boolean][] = [
    ["", true],
    ["region=eu", true],
    ["region==us", false],
    ["region!=us", true],
    ["missing!=us", true],
    ["region in (us, eu)", true],
    ["region notin (us,eu)", false],
    ["missing notin (us)", true],
    ["missing in (us)", false],
    ["example.com/x", true],
    ["!example.com/x", false],
    ["!missing", true],
    ["example.com/x=", true],
    ["tier>1", true],
    ["tier<2", false],
    ["missing>1", false],
    ["region in (us,eu),tier=2,!missing", true],
    ["region=eu,tier=3", false],
  ];
  for (const [selector, selected] of cases) {
    it(`"${selector}" ${selected ? "selects" : "does not select"}`, () => {
      assert.equal(parseLabelSelector(selector)(object), selected);
    });
  }

  for (const wrong of ["a=b=c", "a in b", "=x", "a b", "a in (x", ",a"]) {
    it(`refuses "${wrong}"`, () => assert.throws(() => parseLabelSelector(wrong), isBadRequest));
  }
});

describe("field selectors", () => {
  const event: ApiObject = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e", namespace: "default" },
    involvedObject: { name: "a,b" },
  };

  it("selects by name and namespace everywhere, by other paths where they are supported", () => {
    assert.equal(parseFieldSelector("metadata.name=e,metadata.namespace==default", [])(event), true);
    assert.equal(parseFieldSelector("metadata.name!=e", [])(event), false);
    assert.equal(parseFieldSelector("involvedObject.name=a\\,b", ["involvedObject.name"])(event), true);
    assert.equal(parseFieldSelector("involvedObject.uid=", ["involvedObject.uid"])(event), true);
  });

  it("refuses other paths, as Kubernetes does", () => {
    assert.throws(() => parseFieldSelector("spec.publicKey=x", []), {
      message: "field label not supported: spec.publicKey",
    });
    assert.throws(() => parseFieldSelector("metadata.name", []), isBadRequest);
  });
});
