/** One path, probed from where this process is: ping, full ping, transfer; the first that fails is the reason. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { type PathResult, SINK_PORT, TRANSFER_BYTES } from "./protocol.ts";

/** IPv4 and ICMP headers, which a ping's size does not count. */
const PING_HEADERS = 28;

const BLOCK = Buffer.alloc(TRANSFER_BYTES, "kilomesh ");

/**
 * Probes a path to an IPv4 address whose prober takes transfers.
 * @param mtu bytes of the packet that must pass without being fragmented
 * @param timeout milliseconds for each of the three
 */
export async function probePath(to: string, mtu: number, timeout: number): Promise<PathResult> {
  const plain = await ping(to, 56, timeout);
  if (plain.rtt === undefined) return { ok: false, reason: `ping: ${plain.reason}` };
  const full = await ping(to, mtu - PING_HEADERS, timeout);
  if (full.rtt === undefined)
    return { ok: false, rtt: plain.rtt, reason: `ping of ${mtu} bytes: ${full.reason}` };
  const started = performance.now();
  const failure = await transfer(to, timeout);
  if (failure !== undefined) return { ok: false, rtt: plain.rtt, reason: `transfer: ${failure}` };
  return { ok: true, rtt: Math.min(plain.rtt, full.rtt), transfer: performance.now() - started };
}

async function ping(to: string, size: number, timeout: number): Promise<{ rtt?: number; reason?: string }> {
  const wait = String(Math.max(timeout / 1000, 0.1));
  const child = spawn("ping", ["-n", "-c", "1", "-W", wait, "-M", "do", "-s", String(size), to], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => {
      output += data.toString();
    });
  }
  await new Promise<void>((resolve) => {
    child.on("close", () => resolve());
    child.on("error", (error) => {
      output += error.message;
    });
  });
  return readPing(output);
}

/** Reads what `ping -c 1` printed. */
export function readPing(output: string): { rtt?: number; reason?: string } {
  const time = /time[=<]([\d.]+) ms/.exec(output)?.[1];
  if (time !== undefined) return { rtt: Number(time) };
  const complaint = output
    .split("\n")
    .find((line) =>
      /unreachable|exceeded|too long|Frag needed|not permitted|filtered|prohibited|ENOENT/i.test(line),
    );
  return {
    reason: complaint?.replace(/^(ping|From [^ ]+ icmp_seq=\d+|From [^ ]+):? /, "").trim() ?? "no answer",
  };
}

/** Sends a megabyte and waits for the other side to say that all of it came; gives the reason of a failure. */
function transfer(to: string, timeout: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: to, port: SINK_PORT });
    let reply = "";
    const finish = (reason: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reason);
    };
    const timer = setTimeout(() => finish("timeout"), timeout);
    socket.on("connect", () => socket.end(BLOCK));
    socket.on("data", (data) => {
      reply += data.toString();
    });
    socket.on("error", (error) => finish(error.message));
    socket.on("end", () =>
      finish(reply.trim() === String(TRANSFER_BYTES) ? undefined : `${reply.trim()} bytes came`),
    );
  });
}
