// The server of bench/kube.mjs: the embedded API server with nodes as large as real ones. A number on stdin: so many seconds of updates.
import { createInterface } from "node:readline";
import { PEER_CRD } from "../../src/kube/index.ts";
import { makeCertificates, startApiServer } from "../../src/lab/apiserver/index.ts";

const UPDATES_A_SECOND = 20;

main();

async function main() {
  const [folder, nodes, peers] = process.argv.slice(2);
  const { server: tls } = await makeCertificates(folder);
  const objects = [PEER_CRD];
  for (let i = 0; i < Number(nodes); i++) objects.push(node(i, 0));
  for (let i = 0; i < Number(peers); i++) objects.push(peer(i));
  const server = await startApiServer({ tls, objects, historyLength: 10_000 });
  console.log(`${server.url} ${JSON.stringify(node(0, 0)).length}`);

  let round = 0;
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    let left = Number(line) * UPDATES_A_SECOND;
    const timer = setInterval(() => {
      if (left-- <= 0) clearInterval(timer);
      else server.put(node(round % Number(nodes), ++round));
    }, 1_000 / UPDATES_A_SECOND);
  });
  input.on("close", () => process.exit(0));
}

function node(i, seen) {
  const address = `10.${i >> 8}.${i & 255}.1`;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: `node-${i}`,
      labels: { "topology.kubernetes.io/region": `region-${i % 40}`, "kubernetes.io/os": "linux" },
      annotations: {
        "kilo.squat.ai/endpoint": `${address}:51820`,
        "kilo.squat.ai/internal-ip": `${address}/24`,
        "kilo.squat.ai/key": Buffer.alloc(32, i + 1).toString("base64"),
        "kilo.squat.ai/last-seen": String(1_700_000_000 + seen),
        "kilo.squat.ai/wireguard-ip": "",
        "kilo.squat.ai/discovered-endpoints": "{}",
        "kilo.squat.ai/granularity": "location",
        // In place of managed fields, which the embedded server does not keep.
        "bench/filler": "f".repeat(3_300),
      },
    },
    spec: {
      podCIDR: `10.${64 + (i >> 8)}.${i & 255}.0/24`,
      podCIDRs: [`10.${64 + (i >> 8)}.${i & 255}.0/24`],
    },
    status: {
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: `node-${i}` },
      ],
      images: Array.from({ length: 40 }, (_, n) => ({
        names: [`registry.example/team/image-${n}@sha256:${"0123456789abcdef".repeat(4)}`],
        sizeBytes: 10_000_000 + n,
      })),
    },
  };
}

function peer(i) {
  return {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: { name: `peer-${i}` },
    spec: {
      allowedIPs: [`10.5.${i >> 8}.${i & 255}/32`],
      publicKey: Buffer.alloc(32, i + 1).toString("base64"),
    },
  };
}
