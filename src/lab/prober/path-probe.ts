/** One path, probed from where this process is: ping, full ping, transfer. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { type PingsResult, SINK_PORT, TRANSFER_BYTES, type TransferResult } from "./protocol.ts";

/** IPv4 and ICMP headers, which a ping's size does not count. */
const PING_HEADERS = 28;

const BLOCK = Buffer.alloc(TRANSFER_BYTES, "kilomesh ");

/** Seconds between the tries of a ping. */
const PING_INTERVAL = "0.3";

/**
 * Pings an address, first plainly, then with a packet that must pass without being fragmented. Each is tried every 0.3 s until one is answered: a
 * path is about whether packets come through. How many are lost on the way is what a stream of pings counts.
 * @param mtu bytes of the full packet
 * @param timeout milliseconds for each of the two
 */
export async function probePings(to: string, mtu: number, timeout: number): Promise<PingsResult> {
  const plain = await ping(to, 56, timeout);
  if (plain.rtt === undefined) return { ok: false, reason: `ping: ${plain.reason}` };
  const full = await ping(to, mtu - PING_HEADERS, timeout);
  if (full.rtt === undefined)
    return { ok: false, rtt: plain.rtt, reason: `ping of ${mtu} bytes: ${full.reason}` };
  return { ok: true, rtt: Math.min(plain.rtt, full.rtt) };
}

/** Sends a megabyte to the prober at an address. @param timeout milliseconds */
export async function probeTransfer(to: string, timeout: number): Promise<TransferResult> {
  const started = performance.now();
  const failure = await transfer(to, timeout);
  if (failure !== undefined) return { ok: false, reason: `transfer: ${failure}` };
  return { ok: true, duration: performance.now() - started };
}

async function ping(to: string, size: number, timeout: number): Promise<{ rtt?: number; reason?: string }> {
  const tries = ["-c", "1", "-i", PING_INTERVAL, "-w", String(Math.ceil(timeout / 1000))];
  const child = spawn("ping", ["-n", ...tries, "-M", "do", "-s", String(size), to], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  // ping counts whole seconds only.
  const timer = setTimeout(() => child.kill("SIGINT"), timeout);
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
  clearTimeout(timer);
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
