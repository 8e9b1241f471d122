/**
 * Structural schemas of CRDs (OpenAPI v3): what does not fit, and in the words of Kubernetes.
 *
 * Served: type, required, properties, additionalProperties, items, enum, pattern, minimum, maximum, minLength, maxLength,
 * minItems, maxItems, nullable, allOf, anyOf, oneOf, not, x-kubernetes-int-or-string. `format` and CEL rules
 * (`x-kubernetes-validations`) are ignored.
 */
import { asList, asMap, asText, isMap, type Json, type JsonMap } from "./json.ts";
import type { FieldIssue } from "./status.ts";

/** What in `value` does not fit `schema`; paths start with `path` ("" at the root). Empty when all fits. */
export function schemaIssues(schema: JsonMap, value: Json, path = ""): FieldIssue[] {
  if (value === null)
    return schema.nullable === true || schema.type === undefined ? [] : [wrongType(schema, value, path)];
  if (!fitsType(schema, value)) return [wrongType(schema, value, path)];
  const issues = [
    ...enumIssues(schema, value, path),
    ...valueIssues(schema, value, path),
    ...combinedIssues(schema, value, path),
  ];
  if (Array.isArray(value)) {
    const items = asMap(schema.items);
    return [...issues, ...value.flatMap((item, index) => schemaIssues(items, item, `${path}[${index}]`))];
  }
  return isMap(value) ? [...issues, ...mapIssues(schema, value, path)] : issues;
}

/** The path of a field below another. */
export function below(path: string, field: string): string {
  return path === "" ? field : `${path}.${field}`;
}

function mapIssues(schema: JsonMap, value: JsonMap, path: string): FieldIssue[] {
  const issues: FieldIssue[] = [];
  for (const field of asList(schema.required).map(asText)) {
    if (value[field] !== undefined) continue;
    issues.push({ field: below(path, field), reason: "FieldValueRequired", message: "Required value" });
  }
  const properties = asMap(schema.properties);
  for (const [field, child] of Object.entries(value)) {
    const childSchema = properties[field] ?? schema.additionalProperties;
    if (!isMap(childSchema) || child === undefined) continue;
    const childPath = properties[field] === undefined ? `${path}[${field}]` : below(path, field);
    issues.push(...schemaIssues(childSchema, child, childPath));
  }
  return issues;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function fitsType(schema: JsonMap, value: Json): boolean {
  const type = typeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) return type === "integer" || type === "string";
  return (
    schema.type === undefined || schema.type === type || (schema.type === "number" && type === "integer")
  );
}

function wrongType(schema: JsonMap, value: Json, path: string): FieldIssue {
  const wanted = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : asText(schema.type);
  const shown = `"${typeOf(value)}"`;
  return {
    field: path,
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: ${shown}: ${path} in body must be of type ${wanted}: ${shown}`,
  };
}

function enumIssues(schema: JsonMap, value: Json, path: string): FieldIssue[] {
  const allowed = asList(schema.enum);
  if (allowed.length === 0 || allowed.includes(value)) return [];
  const list = allowed.map((item) => JSON.stringify(item)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return [{ field: path, reason: "FieldValueNotSupported", message }];
}

function combinedIssues(schema: JsonMap, value: Json, path: string): FieldIssue[] {
  const fits = (part: Json): boolean => schemaIssues(asMap(part), value, path).length === 0;
  const issues = asList(schema.allOf).flatMap((part) => schemaIssues(asMap(part), value, path));
  const broken = (rule: string): void => {
    const shown = `Invalid value: "${typeOf(value)}"`;
    issues.push({ field: path, reason: "FieldValueInvalid", message: `${shown}: ${path} in body ${rule}` });
  };
  const any = asList(schema.anyOf);
  if (any.length > 0 && !any.some(fits)) broken("must validate at least one schema (anyOf)");
  const one = asList(schema.oneOf);
  if (one.length > 0 && one.filter(fits).length !== 1)
    broken("must validate one and only one schema (oneOf)");
  if (isMap(schema.not) && fits(schema.not)) broken("must not validate the schema (not)");
  return issues;
}

function valueIssues(schema: JsonMap, value: Json, path: string): FieldIssue[] {
  if (typeof value === "string") return textIssues(schema, value, path);
  if (typeof value === "number") return numberIssues(schema, value, path);
  return Array.isArray(value) ? listIssues(schema, value, path) : [];
}

function textIssues(schema: JsonMap, value: string, path: string): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const { minLength, maxLength, pattern } = schema;
  if (typeof minLength === "number" && value.length < minLength) {
    issues.push(outside(path, value, `should be at least ${minLength} chars long`));
  }
  if (typeof maxLength === "number" && value.length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    issues.push({ field: path, reason: "FieldValueTooLong", message });
  }
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) {
    issues.push(outside(path, value, `should match '${pattern}'`));
  }
  return issues;
}

function numberIssues(schema: JsonMap, value: number, path: string): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const { minimum, maximum } = schema;
  const aboveOnly = schema.exclusiveMinimum === true;
  const belowOnly = schema.exclusiveMaximum === true;
  if (typeof minimum === "number" && (value < minimum || (aboveOnly && value === minimum))) {
    issues.push(outside(path, value, `should be greater than ${aboveOnly ? "" : "or equal to "}${minimum}`));
  }
  if (typeof maximum === "number" && (value > maximum || (belowOnly && value === maximum))) {
    issues.push(outside(path, value, `should be less than ${belowOnly ? "" : "or equal to "}${maximum}`));
  }
  return issues;
}

function listIssues(schema: JsonMap, value: Json[], path: string): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const { minItems, maxItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) {
    issues.push(outside(path, value.length, `should have at least ${minItems} items`));
  }
  if (typeof maxItems === "number" && value.length > maxItems) {
    const message = `Too many: ${value.length}: must have at most ${maxItems} items`;
    issues.push({ field: path, reason: "FieldValueTooMany", message });
  }
  return issues;
}

function outside(path: string, value: Json, rule: string): FieldIssue {
  const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body ${rule}`;
  return { field: path, reason: "FieldValueInvalid", message };
}
