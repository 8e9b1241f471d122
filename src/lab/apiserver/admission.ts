/** From a request's body to an object that may be stored: decoded, pruned, defaulted, validated. */
import { type ApiObject, asMap, asText, isMap, type Json, type JsonMap } from "./json.ts";
import { checkMetadataTypes, metadataIssues } from "./metadata.ts";
import { apiVersionOf, definitionIssues, established, type Resource } from "./resources.ts";
import { schemaIssues } from "./schema.ts";
import { badRequest, invalid } from "./status.ts";
import { prune, withDefaults } from "./structural.ts";

/** What the query parameter `fieldValidation` may say; Warn is Kubernetes' default. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** An object that may be stored, and what the client should be warned of. */
export interface Admitted {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/** A body as an object of the resource in the namespace of the path; throws 400 when it is something else. */
export function decode(resource: Resource, namespace: string | undefined, body: Json): ApiObject {
  if (!isMap(body)) throw badRequest("cannot decode the body: it is not an object");
  const apiVersion = asText(body.apiVersion) || apiVersionOf(resource);
  const kind = asText(body.kind) || resource.kind;
  if (apiVersion !== apiVersionOf(resource)) {
    const expected = `does not match the expected API version (${apiVersionOf(resource)})`;
    throw badRequest(`the API version in the data (${apiVersion}) ${expected}`);
  }
  if (kind !== resource.kind) throw badRequest(`the kind in the data (${kind}) is not ${resource.kind}`);
  checkMetadataTypes(body.metadata ?? {});
  const metadata: JsonMap = { ...asMap(body.metadata) };
  const inBody = asText(metadata.namespace);
  if (inBody !== "" && inBody !== (namespace ?? "")) {
    const why = "the namespace of the provided object does not match the namespace sent on the request";
    throw badRequest(why);
  }
  // Field managers are not served, so what a client sends back of them is not kept either.
  delete metadata.managedFields;
  delete metadata.namespace;
  if (namespace !== undefined) metadata.namespace = namespace;
  return { ...body, apiVersion, kind, metadata };
}

/** Prunes, fills in defaults and validates; `now` is the time in RFC 3339. Throws 400 (strict) or 422. */
export function admit(resource: Resource, object: ApiObject, mode: FieldValidation, now: string): Admitted {
  const name = object.metadata.name ?? "";
  const issues = metadataIssues(object);
  if (resource.custom === undefined) {
    const complete = completeBuiltIn(resource, object, now);
    if (resource.plural === "customresourcedefinitions") issues.push(...definitionIssues(complete));
    if (issues.length > 0) throw invalid(resource, name, issues);
    return { object: complete, warnings: ignoredRules(complete) };
  }
  const { schema } = resource.custom;
  const { value, unknown } = prune(schema, object);
  if (unknown.length > 0 && mode === "Strict") throw strictDecodingError(resource, unknown);
  const filled = withDefaults(schema, value);
  // The schema of a CRD says nothing about metadata but that it is an object.
  issues.push(...schemaIssues(schema, filled));
  if (issues.length > 0) throw invalid(resource, name, issues);
  const warnings = mode === "Ignore" ? [] : unknown.map((field) => `unknown field "${field}"`);
  const { apiVersion, kind, metadata } = object;
  return { object: { ...asMap(filled), apiVersion, kind, metadata }, warnings };
}

function ignoredRules(object: ApiObject): string[] {
  const definition = object.kind === "CustomResourceDefinition";
  if (!definition || !JSON.stringify(object.spec).includes('"x-kubernetes-validations"')) return [];
  return ["x-kubernetes-validations (CEL rules) are not checked by the lab's embedded API server"];
}

function strictDecodingError(resource: Resource, unknown: readonly string[]): Error {
  const fields = unknown.map((field) => `unknown field "${field}"`).join(", ");
  const what = `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}`;
  return badRequest(`${what}: strict decoding error: ${fields}`);
}

/** What the API server itself adds to built-in kinds. */
function completeBuiltIn(resource: Resource, object: ApiObject, now: string): ApiObject {
  if (resource.plural === "customresourcedefinitions") return established(object, now);
  if (resource.plural === "secrets") return completeSecret(object);
  if (resource.plural !== "namespaces") return object;
  const labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name ?? "" };
  const status = object.status ?? { phase: "Active" };
  return { ...object, metadata: { ...object.metadata, labels }, status };
}

function completeSecret(object: ApiObject): ApiObject {
  const { stringData, ...secret } = object;
  const data: JsonMap = { ...asMap(secret.data) };
  for (const [key, value] of Object.entries(asMap(stringData))) {
    data[key] = Buffer.from(asText(value)).toString("base64");
  }
  const type = asText(secret.type) || "Opaque";
  return {
    ...secret,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: object.metadata,
    data,
    type,
  };
}
