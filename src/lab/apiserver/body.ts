/** Reading a request's body: bounded, JSON or YAML. */
import type { IncomingMessage } from "node:http";
import { load } from "js-yaml";
import type { Json } from "./json.ts";
import type { ClientCounter } from "./stats.ts";
import { ApiError, badRequest } from "./status.ts";

/** Reads and decodes the body; undefined when it is empty. Throws 413 beyond `limit` bytes, 415 and 400. */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  counter: ClientCounter,
): Promise<Json | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  counter.received(size);
  return size === 0 ? undefined : parse(Buffer.concat(chunks).toString("utf8"), mediaType(request));
}

/** The media type without parameters; JSON when the client names none. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";
}

function parse(text: string, type: string): Json {
  const yaml = type.endsWith("yaml");
  if (!yaml && !type.endsWith("json")) {
    const instead =
      "it takes JSON and YAML: kubectl apply -f FILE, or kubectl create ... --dry-run=client -o yaml | kubectl apply -f -";
    const message = `cannot read a body of type ${type}: this is the lab's embedded API server (${instead})`;
    throw new ApiError(415, "UnsupportedMediaType", message);
  }
  try {
    return (yaml ? load(text) : JSON.parse(text)) as Json;
  } catch (error) {
    throw badRequest(`cannot decode the body: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function tooLarge(limit: number): ApiError {
  return new ApiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
}
