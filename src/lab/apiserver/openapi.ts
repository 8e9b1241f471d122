/**
 * OpenAPI documents, as far as kubectl needs them: that PATCH takes `fieldValidation` (else it validates on its own), and the
 * schemas of CRDs for `kubectl explain`. Built-in kinds are described by name only.
 */
import { asMap, type Json, type JsonMap } from "./json.ts";
import { apiVersionOf, type Registry, type Resource } from "./resources.ts";
import { VERSION } from "./version.ts";

const INFO = { title: "Kilomesh lab", version: VERSION.gitVersion };

/** The index at /openapi/v3: one document for each group and version. */
export function openApiIndex(registry: Registry): JsonMap {
  const paths = [...new Set(registry.all().map(groupPath))];
  // Clients cache a document by its address; the number of resources tells them that a CRD came or went.
  const hash = registry.all().length;
  const entries = paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]);
  return { paths: Object.fromEntries(entries) };
}

/** The document of one group and version, e.g. for `apis/kilo.squat.ai/v1alpha1`; undefined when nothing is served there. */
export function openApiDocument(registry: Registry, path: string): JsonMap | undefined {
  const resources = registry.all().filter((resource) => groupPath(resource) === path);
  if (resources.length === 0) return undefined;
  const schemas = Object.fromEntries(resources.map((resource) => [schemaName(resource), schemaOf(resource)]));
  const paths = Object.fromEntries(
    resources.map((resource) => [`/${objectPath(resource)}`, pathItem(resource)]),
  );
  return {
    openapi: "3.0.0",
    info: INFO,
    paths,
    components: { schemas: { ...schemas, [META]: META_SCHEMA } },
  };
}

/** OpenAPI 2 without any definition: what it does not know, kubectl does not check. */
export const OPENAPI_V2: JsonMap = { swagger: "2.0", info: INFO, paths: {} };

/** The same in protobuf, which is all that kubectl before 1.27 reads: field 1 is the text `2.0`. */
export const OPENAPI_V2_PROTOBUF = Buffer.from([0x0a, 3, ...Buffer.from("2.0")]);

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const TEXT_MAP = { type: "object", additionalProperties: { type: "string" } };

const META_SCHEMA: JsonMap = {
  type: "object",
  description: "Standard object metadata.",
  properties: {
    name: { type: "string", description: "Name, unique within its kind (and namespace)." },
    namespace: { type: "string", description: "Namespace; empty for kinds of the cluster scope." },
    labels: { ...TEXT_MAP, description: "Labels, which selectors select by." },
    annotations: { ...TEXT_MAP, description: "Annotations, which nothing selects by." },
  },
};

function groupPath(resource: Resource): string {
  return resource.group === "" ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;
}

function objectPath(resource: Resource): string {
  const scope = resource.namespaced ? "/namespaces/{namespace}" : "";
  return `${groupPath(resource)}${scope}/${resource.plural}/{name}`;
}

function schemaName(resource: Resource): string {
  const domain = resource.group === "" ? "io.k8s.api.core" : resource.group.split(".").toReversed().join(".");
  return `${domain}.${resource.version}.${resource.kind}`;
}

function kindOf(resource: Resource): JsonMap {
  return { group: resource.group, version: resource.version, kind: resource.kind };
}

function schemaOf(resource: Resource): JsonMap {
  const schema = resource.custom?.schema ?? {
    description: `${resource.kind}: kept as it comes, the lab's embedded API server has no schema of it.`,
    "x-kubernetes-preserve-unknown-fields": true,
  };
  const text: Json = { type: "string" };
  const metadata = {
    allOf: [{ $ref: `#/components/schemas/${META}` }],
    default: {},
    description: "Standard object metadata.",
  };
  const properties = { ...asMap(schema.properties), apiVersion: text, kind: text, metadata };
  return { type: "object", ...schema, properties, "x-kubernetes-group-version-kind": [kindOf(resource)] };
}

function pathItem(resource: Resource): JsonMap {
  const parameter = (name: string, where: string): Json => ({ name, in: where, schema: { type: "string" } });
  const parameters = ["fieldValidation", "dryRun", "fieldManager"].map((name) => parameter(name, "query"));
  // No strategic merge patch here: kubectl then takes the merge keys of built-in kinds from its own code.
  const types = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
  ];
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: "object" } }]));
  const about = { "x-kubernetes-group-version-kind": kindOf(resource) };
  const responses = { "200": { description: "OK" } };
  const schema = { $ref: `#/components/schemas/${schemaName(resource)}` };
  const answer = { "200": { description: "OK", content: { "application/json": { schema } } } };
  return {
    get: { ...about, "x-kubernetes-action": "get", responses: answer },
    patch: { ...about, "x-kubernetes-action": "patch", parameters, requestBody: { content }, responses },
  };
}
