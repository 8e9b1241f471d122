import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json, JsonMap } from "./json.ts";
import { schemaIssues } from "./schema.ts";
import { prune, withDefaults } from "./structural.ts";

const text = { type: "string" };

function messages(schema: JsonMap, value: Json): string[] {
  return schemaIssues(schema, value).map(({ field, message }) => `${field}: ${message}`);
}

describe("schema validation, in the words of Kubernetes", () => {
  const property = (schema: JsonMap): JsonMap => ({ type: "object", properties: { x: schema } });
  const cases: readonly [string, JsonMap, Json, string[]][] = [
    ["required", { type: "object", required: ["x"] }, {}, ["x: Required value"]],
    [
      "type",
      property({ type: "integer" }),
      { x: "a" },
      ['x: Invalid value: "string": x in body must be of type integer: "string"'],
    ],
    ["an integer is a number", property({ type: "number" }), { x: 1 }, []],
    [
      "a fraction is not an integer",
      property({ type: "integer" }),
      { x: 1.5 },
      ['x: Invalid value: "number": x in body must be of type integer: "number"'],
    ],
    [
      "null",
      property(text),
      { x: null },
      ['x: Invalid value: "null": x in body must be of type string: "null"'],
    ],
    ["nullable", property({ ...text, nullable: true }), { x: null }, []],
    [
      "enum",
      property({ ...text, enum: ["a", "b"] }),
      { x: "c" },
      ['x: Unsupported value: "c": supported values: "a", "b"'],
    ],
    [
      "pattern",
      property({ ...text, pattern: "^[a-z]+$" }),
      { x: "1" },
      [`x: Invalid value: "1": x in body should match '^[a-z]+$'`],
    ],
    [
      "minimum",
      property({ type: "integer", minimum: 1 }),
      { x: 0 },
      ["x: Invalid value: 0: x in body should be greater than or equal to 1"],
    ],
    [
      "maximum",
      property({ type: "integer", maximum: 5, exclusiveMaximum: true }),
      { x: 5 },
      ["x: Invalid value: 5: x in body should be less than 5"],
    ],
    [
      "minLength",
      property({ ...text, minLength: 1 }),
      { x: "" },
      ['x: Invalid value: "": x in body should be at least 1 chars long'],
    ],
    [
      "maxLength",
      property({ ...text, maxLength: 1 }),
      { x: "ab" },
      ["x: Too long: may not be more than 1 bytes"],
    ],
    [
      "maxItems",
      property({ type: "array", maxItems: 1, items: text }),
      { x: ["a", "b"] },
      ["x: Too many: 2: must have at most 1 items"],
    ],
    [
      "items",
      property({ type: "array", items: text }),
      { x: ["a", 1] },
      ['x[1]: Invalid value: "integer": x[1] in body must be of type string: "integer"'],
    ],
    [
      "additionalProperties",
      property({ type: "object", additionalProperties: text }),
      { x: { k: 1 } },
      ['x[k]: Invalid value: "integer": x[k] in body must be of type string: "integer"'],
    ],
    ["int or string", property({ "x-kubernetes-int-or-string": true }), { x: "80%" }, []],
    [
      "anyOf",
      property({ anyOf: [{ type: "integer" }, { ...text, pattern: "^a" }] }),
      { x: "b" },
      ['x: Invalid value: "string": x in body must validate at least one schema (anyOf)'],
    ],
    [
      "oneOf",
      property({ type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
      { x: { a: 1, b: 2 } },
      ['x: Invalid value: "object": x in body must validate one and only one schema (oneOf)'],
    ],
    [
      "not",
      property({ type: "object", not: { required: ["a"] } }),
      { x: { a: 1 } },
      ['x: Invalid value: "object": x in body must not validate the schema (not)'],
    ],
    ["allOf", property({ allOf: [{ required: ["a"] }] }), { x: {} }, ["x.a: Required value"]],
    ["format is ignored", property({ type: "string", format: "ipv4" }), { x: "no" }, []],
  ];
  for (const [what, schema, value, wanted] of cases) {
    it(what, () => assert.deepEqual(messages(schema, value), wanted));
  }

  it("names nested fields by their path", () => {
    const spec = { type: "object", required: ["publicKey"], properties: { publicKey: text } };
    assert.deepEqual(messages({ type: "object", properties: { spec } }, { spec: {} }), [
      "spec.publicKey: Required value",
    ]);
  });
});

describe("pruning", () => {
  const schema: JsonMap = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { known: text, list: { type: "array", items: { properties: { a: text } } } },
      },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  };

  it("drops and names unknown fields, keeps metadata and what is preserved", () => {
    const object = {
      ...{ apiVersion: "v1", kind: "K", metadata: { name: "n" }, free: { any: { thing: 1 } } },
      ...{ spec: { known: "x", other: 1, list: [{ a: "1", b: "2" }] }, status: {} },
    };
    const { value, unknown } = prune(schema, object);
    assert.deepEqual(unknown, ["spec.other", "spec.list[0].b", "status"]);
    assert.deepEqual(value, {
      ...{ apiVersion: "v1", kind: "K", metadata: { name: "n" }, free: { any: { thing: 1 } } },
      spec: { known: "x", list: [{ a: "1" }] },
    });
  });
});

describe("defaults", () => {
  it("fills absent fields, also inside lists, and leaves the schema alone", () => {
    const inner = { type: "object", properties: { port: { type: "integer", default: 51820 } } };
    const schema: JsonMap = {
      type: "object",
      properties: {
        list: { type: "array", items: inner },
        labels: { type: "object", default: {} },
        one: inner,
      },
    };
    const filled = withDefaults(schema, { list: [{}, { port: 1 }] });
    assert.deepEqual(filled, { list: [{ port: 51820 }, { port: 1 }], labels: {} });
  });
});
