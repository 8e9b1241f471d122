/** Requests of the lab itself to its API server: over the server's socket, as administrator. Agents use their own client; this is not it. */
import { request } from "node:https";
import { LabError } from "./errors.ts";

export interface ApiCredentials {
  /** Path of the UNIX socket behind which the server speaks TLS. */
  readonly socketPath: string;
  /** PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
}

export class ApiClient {
  readonly #credentials: ApiCredentials;

  constructor(credentials: ApiCredentials) {
    this.#credentials = credentials;
  }

  /** Sends one request, and gives the answer whatever its status. @throws when there is no connection, or no answer in 5 s */
  async send(
    method: string,
    path: string,
    body?: unknown,
    contentType = "application/json",
  ): Promise<ApiReply> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) };
    const target = {
      ...this.#credentials,
      method,
      path,
      headers,
      servername: "localhost",
      agent: false,
      timeout: 5000,
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(target, (response) => {
        let answer = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          answer += part;
        });
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: parse(answer) }));
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in 5 s")));
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }

  /** As `send`, for requests that have to succeed. @throws LabError `command` with the server's message */
  async expect(method: string, path: string, body?: unknown, contentType?: string): Promise<unknown> {
    const reply = await this.send(method, path, body, contentType);
    if (reply.status >= 200 && reply.status < 300) return reply.body;
    const message = (reply.body as { message?: string } | undefined)?.message ?? JSON.stringify(reply.body);
    throw new LabError("command", `cannot ${method} ${path}: status ${reply.status} (${message})`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
