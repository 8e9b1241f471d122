/**
 * The prober: a small process in a pod's or a host's network that probes paths on request and takes the transfers of others.
 * One process an end of paths, started before the path exists, so that measuring costs no start of anything but `ping`.
 */
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { probePings, probeTransfer } from "./path-probe.ts";
import { type Answer, type HttpResult, type Request, SINK_PORT } from "./protocol.ts";

/** Serves requests from standard input until it ends. */
export async function runProber(): Promise<void> {
  await startSink();
  say({ outer: outerProcessId(), inner: process.pid });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    answer(request).then(say, (error: unknown) => {
      say({ id: request.id, kind: request.kind, ok: false, body: String(error), reason: String(error) });
    });
  }
  process.exit(0);
}

async function answer(request: Request): Promise<Answer> {
  const { id } = request;
  switch (request.kind) {
    case "pings":
      return { id, kind: "pings", ...(await probePings(request.to, request.mtu, request.timeout)) };
    case "transfer":
      return { id, kind: "transfer", ...(await probeTransfer(request.to, request.timeout)) };
    case "http":
      return { id, kind: "http", ...(await fetchText(request.url, request.timeout)) };
  }
}

/** Swallows what comes, and when the other side has ended tells how many bytes that were. */
async function startSink(): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0;
    socket.on("data", (data) => {
      bytes += data.length;
    });
    socket.on("end", () => socket.end(`${bytes}\n`));
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen({ port: SINK_PORT, host: "0.0.0.0" }, resolve);
  });
}

function fetchText(url: string, timeout: number): Promise<HttpResult> {
  return new Promise((resolve) => {
    const request = get(url, { timeout, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    request.on("timeout", () => request.destroy(new Error("timeout")));
    request.on("error", (error) => resolve({ body: error.message }));
  });
}

/** /proc is still the lab's here: the prober is in the host's process namespace but not among its mounts. */
function outerProcessId(): number {
  return Number(readFileSync("/proc/self/stat", "utf8").split(" ")[0]);
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
