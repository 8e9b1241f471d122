/** The Table form that `kubectl get` asks for: rows of cells, in the columns of each kind. */
import type { ApiObject, Json, JsonMap } from "./json.ts";
import { printerOf } from "./printers.ts";
import type { Resource } from "./resources.ts";

/** How much of each object comes with its row; kubectl takes name and namespace from it. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Whether the Accept header prefers a Table (version 1 of meta.k8s.io). */
export function wantsTable(accept: string): boolean {
  return /^\s*application\/json\s*;[^,]*as=Table[^,]*/.test(accept) && accept.includes("v=v1");
}

/** Objects as a Table; `metadata` is that of the list. */
export function toTable(
  resource: Resource,
  objects: readonly ApiObject[],
  metadata: JsonMap,
  include: IncludeObject,
  now: number,
): JsonMap {
  const printer = printerOf(resource);
  const columnDefinitions = printer.columns.map(({ name, type, priority, description }) => {
    return { name, type, format: name === "Name" ? "name" : "", description, priority };
  });
  const rows = objects.map((object) => ({
    cells: printer.cells(object, now),
    object: rowObject(object, include),
  }));
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions, rows };
}

function rowObject(object: ApiObject, include: IncludeObject): Json {
  if (include === "None") return null;
  if (include === "Object") return object;
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
