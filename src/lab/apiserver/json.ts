/** JSON values as they travel, and the outline that every Kubernetes object has. */

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonMap;

/** A JSON object; a field that is undefined is not sent. */
export interface JsonMap {
  [field: string]: Json | undefined;
}

/** The metadata this server reads or writes; other fields are kept as they came. */
export interface ObjectMeta extends JsonMap {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
}

/** Any Kubernetes object. What the store holds is never changed in place: readers may keep it. */
export interface ApiObject extends JsonMap {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Whether a value is a JSON object (not an array, not null). */
export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value when it is a JSON object, else an empty one. */
export function asMap(value: Json | undefined): JsonMap {
  return isMap(value) ? value : {};
}

/** The value when it is a list, else an empty one. */
export function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The value when it is a string, else an empty one. */
export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A copy that shares nothing with the original. */
export function copy<Value extends Json>(value: Value): Value {
  return structuredClone(value);
}

/** Equality of JSON values; the order of fields does not count, a field that is undefined is absent. */
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((field) => equal(a[field], b[field]));
}
