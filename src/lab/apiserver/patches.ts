/** The patch kinds that need no knowledge of the resource: JSON merge patch (RFC 7396) and JSON patch (RFC 6902). */
import { copy, equal, isMap, type Json, type JsonMap } from "./json.ts";
import { ApiError, badRequest } from "./status.ts";

/** RFC 7396: maps merge, null removes, everything else replaces. The target is not changed. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isMap(patch)) return patch;
  const merged: JsonMap = isMap(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete merged[field];
    else merged[field] = mergePatch(merged[field], value);
  }
  return merged;
}

/** RFC 6902. Throws 400 on a malformed operation and 422 when one cannot be applied (also a failed `test`). */
export function jsonPatch(target: JsonMap, patch: Json): JsonMap {
  if (!Array.isArray(patch))
    throw badRequest("cannot apply JSON patch: the body is not a list of operations");
  const holder: JsonMap = { root: copy(target) };
  for (const operation of patch) {
    if (!isMap(operation)) throw badRequest("cannot apply JSON patch: an operation is not an object");
    applyOperation(holder, operation);
  }
  if (!isMap(holder.root)) throw badRequest("cannot apply JSON patch: the result is not an object");
  return holder.root;
}

function applyOperation(holder: JsonMap, operation: JsonMap): void {
  const path = pointer(operation.path);
  switch (operation.op) {
    case "add":
      add(holder, path, required(operation));
      break;
    case "remove":
      remove(holder, path);
      break;
    case "replace":
      remove(holder, path);
      add(holder, path, required(operation));
      break;
    case "move":
      add(holder, path, remove(holder, pointer(operation.from)));
      break;
    case "copy":
      add(holder, path, copy(read(holder, pointer(operation.from))));
      break;
    case "test":
      if (!equal(read(holder, path), required(operation))) throw failed("test failed", path);
      break;
    default:
      throw badRequest(`cannot apply JSON patch: unknown operation "${String(operation.op)}"`);
  }
}

/** The steps of a JSON pointer (RFC 6901), below the field `root` that holds the document. */
function pointer(text: Json | undefined): string[] {
  if (typeof text !== "string" || (text !== "" && !text.startsWith("/"))) {
    throw badRequest(`cannot apply JSON patch: "${String(text)}" is not a JSON pointer`);
  }
  const steps = text.split("/").slice(1);
  return ["root", ...steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))];
}

function required(operation: JsonMap): Json {
  if (operation.value === undefined)
    throw badRequest(`cannot apply JSON patch: ${operation.op} without a value`);
  return operation.value;
}

function add(holder: JsonMap, path: string[], value: Json): void {
  const { parent, last } = locate(holder, path);
  if (!Array.isArray(parent)) {
    parent[last] = value;
    return;
  }
  const index = last === "-" ? parent.length : Number(last);
  if (!Number.isInteger(index) || index < 0 || index > parent.length)
    throw failed("index out of range", path);
  parent.splice(index, 0, value);
}

function remove(holder: JsonMap, path: string[]): Json {
  const value = read(holder, path);
  const { parent, last } = locate(holder, path);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return value;
}

function read(holder: JsonMap, path: string[]): Json {
  const { parent, last } = locate(holder, path);
  const value = Array.isArray(parent) ? parent[Number(last)] : parent[last];
  if (value === undefined) throw failed("nothing there", path);
  return value;
}

function locate(holder: JsonMap, path: string[]): { parent: JsonMap | Json[]; last: string } {
  let parent: JsonMap | Json[] = holder;
  for (const step of path.slice(0, -1)) {
    const next: Json | undefined = Array.isArray(parent) ? parent[Number(step)] : parent[step];
    if (!isMap(next) && !Array.isArray(next)) throw failed("no such parent", path);
    parent = next;
  }
  return { parent, last: path.at(-1) ?? "" };
}

function failed(why: string, path: string[]): ApiError {
  return new ApiError(422, "Invalid", `cannot apply JSON patch at "/${path.slice(1).join("/")}": ${why}`);
}
