/** The columns of each kind in `kubectl get`, and what stands in them. */
import { age } from "./durations.ts";
import { type ApiObject, asList, asMap, asText, type Json } from "./json.ts";
import { jsonPath } from "./json-path.ts";
import type { Column, Resource } from "./resources.ts";

/** The columns of a resource and how a row is made of an object. */
export interface Printer {
  readonly columns: readonly Column[];
  readonly cells: (object: ApiObject, now: number) => Json[];
}

/** How a resource is printed; kinds without columns of their own show name and age. */
export function printerOf(resource: Resource): Printer {
  if (resource.custom !== undefined) return customPrinter(resource.custom.columns);
  return PRINTERS[resource.plural] ?? customPrinter([]);
}

const AGE: Column = column("Age", "string");

function customPrinter(given: readonly Column[]): Printer {
  const columns =
    given.length > 0 ? given : [{ ...AGE, type: "date", jsonPath: ".metadata.creationTimestamp" }];
  return {
    columns: [column("Name", "string"), ...columns],
    cells: (object, now) => [
      object.metadata.name ?? "",
      ...columns.map(({ jsonPath: path = "", type }) => customCell(jsonPath(object, path), type, now)),
    ],
  };
}

function customCell(values: readonly Json[], type: string, now: number): Json {
  const [value] = values;
  if (value === undefined || value === null) return null;
  if (type === "date") return age(asText(value), now);
  if (typeof value === "object") return JSON.stringify(value);
  return type === "string" ? values.map(String).join(",") : value;
}

function column(name: string, type: string, priority = 0): Column {
  return { name, type, priority, description: "" };
}

const NAME = column("Name", "string");

const PRINTERS: Readonly<Record<string, Printer>> = {
  nodes: {
    columns: [
      NAME,
      ...["Status", "Roles", "Age", "Version"].map((name) => column(name, "string")),
      ...["Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"].map((name) =>
        column(name, "string", 1),
      ),
    ],
    cells: nodeCells,
  },
  namespaces: {
    columns: [NAME, column("Status", "string"), AGE],
    cells: (object, now) => [...name(object), asText(asMap(object.status).phase), created(object, now)],
  },
  secrets: {
    columns: [NAME, column("Type", "string"), column("Data", "integer"), AGE],
    cells: (object, now) => [...name(object), asText(object.type), countData(object), created(object, now)],
  },
  configmaps: {
    columns: [NAME, column("Data", "integer"), AGE],
    cells: (object, now) => [...name(object), countData(object), created(object, now)],
  },
  leases: {
    columns: [NAME, column("Holder", "string"), AGE],
    cells: (object, now) => [
      ...name(object),
      asText(asMap(object.spec).holderIdentity),
      created(object, now),
    ],
  },
  customresourcedefinitions: {
    columns: [NAME, column("Created At", "date")],
    cells: (object) => [...name(object), object.metadata.creationTimestamp ?? ""],
  },
  events: {
    columns: [
      ...["Last Seen", "Type", "Reason", "Object"].map((title) => column(title, "string")),
      column("Source", "string", 1),
      column("Message", "string"),
    ],
    cells: eventCells,
  },
  pods: {
    columns: [
      NAME,
      column("Ready", "string"),
      column("Status", "string"),
      column("Restarts", "integer"),
      AGE,
      column("IP", "string", 1),
      column("Node", "string", 1),
    ],
    cells: podCells,
  },
};

function name(object: ApiObject): Json[] {
  return [object.metadata.name ?? ""];
}

function created(object: ApiObject, now: number): string {
  return age(object.metadata.creationTimestamp, now);
}

function countData(object: ApiObject): number {
  return Object.keys({ ...asMap(object.data), ...asMap(object.binaryData) }).length;
}

function nodeCells(node: ApiObject, now: number): Json[] {
  const status = asMap(node.status);
  const info = asMap(status.nodeInfo);
  const known = (field: string, absent: string): string => asText(info[field]) || absent;
  return [
    node.metadata.name ?? "",
    nodeStatus(node),
    nodeRoles(node),
    created(node, now),
    asText(info.kubeletVersion),
    nodeAddress(node, "InternalIP"),
    nodeAddress(node, "ExternalIP"),
    known("osImage", "<unknown>"),
    known("kernelVersion", "<unknown>"),
    known("containerRuntimeVersion", "<unknown>"),
  ];
}

function nodeStatus(node: ApiObject): string {
  const conditions = asList(asMap(node.status).conditions).map(asMap);
  const ready = conditions.find((condition) => condition.type === "Ready");
  const readiness = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return asMap(node.spec).unschedulable === true ? `${readiness},SchedulingDisabled` : readiness;
}

function nodeRoles(node: ApiObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = Object.entries(node.metadata.labels ?? {});
  const roles = labels.flatMap(([label, value]) => {
    if (label === "kubernetes.io/role" && value !== "") return [value];
    return label.startsWith(prefix) && label !== prefix ? [label.slice(prefix.length)] : [];
  });
  return roles.sort().join(",") || "<none>";
}

function nodeAddress(node: ApiObject, type: string): string {
  const addresses = asList(asMap(node.status).addresses).map(asMap);
  return asText(addresses.find((address) => address.type === type)?.address) || "<none>";
}

function eventCells(event: ApiObject, now: number): Json[] {
  const about = asMap(event.involvedObject);
  const seen = asText(event.lastTimestamp) || asText(event.eventTime) || asText(event.firstTimestamp);
  return [
    age(seen || event.metadata.creationTimestamp, now),
    asText(event.type),
    asText(event.reason),
    `${asText(about.kind).toLowerCase()}/${asText(about.name)}`,
    asText(asMap(event.source).component) || asText(event.reportingComponent),
    asText(event.message).trim(),
  ];
}

function podCells(pod: ApiObject, now: number): Json[] {
  const status = asMap(pod.status);
  const containers = asList(status.containerStatuses).map(asMap);
  const ready = containers.filter((container) => container.ready === true).length;
  const wanted = asList(asMap(pod.spec).containers).length;
  const restarts = containers.reduce((sum, container) => sum + Number(container.restartCount ?? 0), 0);
  const where = [asText(status.podIP) || "<none>", asText(asMap(pod.spec).nodeName) || "<none>"];
  return [
    ...name(pod),
    `${ready}/${wanted}`,
    asText(status.phase) || "Unknown",
    restarts,
    created(pod, now),
    ...where,
  ];
}
