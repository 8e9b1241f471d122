/** The rules of object metadata that every kind shares: names, labels, annotations. */
import { type ApiObject, isMap, type Json } from "./json.ts";
import { badRequest, type FieldIssue } from "./status.ts";

// RFC 1123 subdomain; the last part of a qualified name; a label value (k8s.io/apimachinery/pkg/util/validation).
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Kubernetes' own bound on the annotations of one object, keys and values together. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** What in the metadata breaks the rules, in the words of Kubernetes. */
export function metadataIssues(object: ApiObject): FieldIssue[] {
  const { name = "", labels = {}, annotations = {} } = object.metadata;
  const issues: FieldIssue[] = [];
  if (name.length > 253 || !SUBDOMAIN.test(name)) {
    const rule =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
    issues.push(
      broken("metadata.name", name, `${rule}, and must start and end with an alphanumeric character`),
    );
  }
  for (const [key, value] of Object.entries(labels)) {
    issues.push(...keyIssues("metadata.labels", key));
    if (value.length > 63) issues.push(broken("metadata.labels", value, "must be no more than 63 bytes"));
    else if (!LABEL_VALUE.test(value)) {
      const rule =
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'";
      issues.push(broken("metadata.labels", value, rule));
    }
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    issues.push(...keyIssues("metadata.annotations", key));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) {
    const message = `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`;
    issues.push({ field: "metadata.annotations", reason: "FieldValueTooLong", message });
  }
  return issues;
}

/** Throws a 400 unless the metadata has the types Kubernetes decodes: maps of text, lists of text. */
export function checkMetadataTypes(metadata: Json | undefined): void {
  if (!isMap(metadata)) throw badRequest("cannot decode the object: metadata is not an object");
  for (const field of ["name", "namespace", "generateName", "resourceVersion", "uid"]) {
    const value = metadata[field];
    if (value === undefined || value === null || typeof value === "string") continue;
    throw badRequest(`cannot decode the object: metadata.${field} is not a string`);
  }
  for (const field of ["labels", "annotations"]) {
    const values = metadata[field] ?? {};
    if (isMap(values) && Object.values(values).every((value) => typeof value === "string")) continue;
    throw badRequest(`cannot decode the object: metadata.${field} is not a map of strings`);
  }
  const finalizers = metadata.finalizers ?? [];
  if (Array.isArray(finalizers) && finalizers.every((item) => typeof item === "string")) return;
  throw badRequest("cannot decode the object: metadata.finalizers is not a list of strings");
}

function keyIssues(field: string, key: string): FieldIssue[] {
  const slash = key.indexOf("/");
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const last = key.slice(slash + 1);
  const fits =
    QUALIFIED_PART.test(last) && last.length <= 63 && (prefix === undefined || SUBDOMAIN.test(prefix));
  if (fits) return [];
  const rule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', with an optional DNS subdomain and '/'";
  return [broken(field, key, rule)];
}

function broken(field: string, value: string, rule: string): FieldIssue {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${rule}` };
}
