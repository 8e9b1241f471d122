/** Which resources are served: the built-in ones our agents and the demo need, and those that CRDs add. */
import { type ApiObject, asList, asMap, asText, type JsonMap } from "./json.ts";
import { type FieldIssue, type Named, qualified } from "./status.ts";

/** A column of `kubectl get`; `priority` above 0 shows only with `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly priority: number;
  readonly description: string;
  /** Where a CRD takes the value from (its `additionalPrinterColumns`). */
  readonly jsonPath?: string;
}

/** One served resource in one version. */
export interface Resource extends Named {
  readonly version: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Whether there is a `status` subresource. */
  readonly status: boolean;
  /** Paths a field selector may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  /** Only for resources of CRDs. */
  readonly custom?: { readonly schema: JsonMap; readonly columns: readonly Column[] };
}

const EVENT_FIELDS = ["apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"];

const BUILT_IN: readonly Resource[] = [
  builtIn("", "v1", "nodes", "Node", ["no"], { status: true, fields: ["spec.unschedulable"] }),
  builtIn("", "v1", "namespaces", "Namespace", ["ns"], { status: true, fields: ["status.phase"] }),
  builtIn("", "v1", "secrets", "Secret", [], { namespaced: true, fields: ["type"] }),
  builtIn("", "v1", "configmaps", "ConfigMap", ["cm"], { namespaced: true }),
  builtIn("", "v1", "events", "Event", ["ev"], {
    namespaced: true,
    fields: [
      ...EVENT_FIELDS.map((field) => `involvedObject.${field}`),
      "reason",
      "type",
      "reportingComponent",
      "source",
    ],
  }),
  // `kubectl describe node` lists the pods of the node; without them it fails altogether.
  builtIn("", "v1", "pods", "Pod", ["po"], {
    namespaced: true,
    status: true,
    fields: ["spec.nodeName", "status.phase", "status.podIP", "spec.restartPolicy"],
  }),
  builtIn("coordination.k8s.io", "v1", "leases", "Lease", [], { namespaced: true }),
  builtIn(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    ["crd", "crds"],
    {
      status: true,
    },
  ),
];

/** What the refusals name. */
export const SERVED = BUILT_IN.map((resource) => resource.plural).join(", ");

/** The resources at one time. CRDs come and go. */
export class Registry {
  readonly #resources: Resource[] = [...BUILT_IN];

  /** Every served resource, the built-in ones first. */
  all(): readonly Resource[] {
    return this.#resources;
  }

  /** The resource at a path; undefined when it is not served. */
  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#resources.find(
      (resource) => resource.group === group && resource.version === version && resource.plural === plural,
    );
  }

  /** The resource of an object; undefined when its kind is not served. */
  forKind(apiVersion: string, kind: string): Resource | undefined {
    return this.#resources.find(
      (resource) => apiVersionOf(resource) === apiVersion && resource.kind === kind,
    );
  }

  /** Serves what a CRD defines, instead of what it defined before. */
  register(definition: ApiObject): void {
    this.unregister(definition);
    this.#resources.push(...resourcesOf(definition));
  }

  /** Serves no longer what a CRD defines. */
  unregister(definition: ApiObject): void {
    const spec = asMap(definition.spec);
    const plural = asText(asMap(spec.names).plural);
    const others = this.#resources.filter(
      (resource) =>
        resource.custom === undefined || resource.group !== spec.group || resource.plural !== plural,
    );
    this.#resources.splice(0, this.#resources.length, ...others);
  }
}

/** `v1`, or `kilo.squat.ai/v1alpha1`. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** What the store calls the resource: the same for all versions. */
export function storeName(resource: Named): string {
  return qualified(resource.group, resource.plural);
}

/** What makes a CRD unusable here; empty when it can be registered. */
export function definitionIssues(definition: ApiObject): FieldIssue[] {
  const spec = asMap(definition.spec);
  const names = asMap(spec.names);
  const issues: FieldIssue[] = [];
  const missing = (field: string): void => {
    issues.push({ field, reason: "FieldValueRequired", message: "Required value" });
  };
  if (asText(spec.group) === "") missing("spec.group");
  if (asText(names.plural) === "") missing("spec.names.plural");
  if (asText(names.kind) === "") missing("spec.names.kind");
  if (spec.scope !== "Cluster" && spec.scope !== "Namespaced") missing("spec.scope");
  const versions = asList(spec.versions).map(asMap);
  if (versions.length === 0) missing("spec.versions");
  for (const [index, version] of versions.entries()) {
    if (asText(version.name) === "") missing(`spec.versions[${index}].name`);
    const schema = asMap(asMap(version.schema).openAPIV3Schema);
    if (Object.keys(schema).length === 0) missing(`spec.versions[${index}].schema.openAPIV3Schema`);
  }
  const wanted = `${asText(names.plural)}.${asText(spec.group)}`;
  if (definition.metadata.name !== wanted) {
    const message = `Invalid value: "${definition.metadata.name}": must be spec.names.plural+"."+spec.group`;
    issues.push({ field: "metadata.name", reason: "FieldValueInvalid", message });
  }
  return issues;
}

/** A CRD as the server keeps it: names completed, and established at once. */
export function established(definition: ApiObject, now: string): ApiObject {
  const spec = asMap(definition.spec);
  const given = asMap(spec.names);
  const kind = asText(given.kind);
  const names: JsonMap = {
    ...given,
    singular: given.singular ?? kind.toLowerCase(),
    listKind: given.listKind ?? `${kind}List`,
  };
  const versions = asList(spec.versions).map(asMap);
  const condition = (type: string, reason: string): JsonMap => ({
    type,
    status: "True",
    reason,
    lastTransitionTime: now,
  });
  const status: JsonMap = {
    conditions: [condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")],
    acceptedNames: names,
    storedVersions: versions
      .filter((version) => version.storage === true)
      .map((version) => asText(version.name)),
  };
  const kept = asMap(definition.status).acceptedNames === undefined ? status : asMap(definition.status);
  return {
    ...definition,
    spec: { ...spec, names, conversion: spec.conversion ?? { strategy: "None" } },
    status: kept,
  };
}

function resourcesOf(definition: ApiObject): Resource[] {
  const spec = asMap(definition.spec);
  const names = asMap(spec.names);
  const kind = asText(names.kind);
  const versions = asList(spec.versions).map(asMap);
  return versions
    .filter((version) => version.served !== false)
    .map((version) => ({
      group: asText(spec.group),
      version: asText(version.name),
      plural: asText(names.plural),
      singular: asText(names.singular) || kind.toLowerCase(),
      kind,
      shortNames: asList(names.shortNames).map(asText),
      namespaced: spec.scope === "Namespaced",
      status: asMap(version.subresources).status !== undefined,
      selectableFields: [],
      custom: {
        schema: asMap(asMap(version.schema).openAPIV3Schema),
        columns: asList(version.additionalPrinterColumns).map(asMap).map(toColumn),
      },
    }));
}

function toColumn(column: JsonMap): Column {
  return {
    name: asText(column.name),
    type: asText(column.type),
    priority: typeof column.priority === "number" ? column.priority : 0,
    description: asText(column.description),
    jsonPath: asText(column.jsonPath),
  };
}

interface BuiltInOptions {
  readonly namespaced?: boolean;
  readonly status?: boolean;
  readonly fields?: readonly string[];
}

function builtIn(
  group: string,
  version: string,
  plural: string,
  kind: string,
  shortNames: readonly string[],
  options: BuiltInOptions = {},
): Resource {
  return {
    group,
    version,
    plural,
    singular: kind.toLowerCase(),
    kind,
    shortNames,
    namespaced: options.namespaced ?? false,
    status: options.status ?? false,
    selectableFields: options.fields ?? [],
  };
}
