/** The contract suite against the embedded API server. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Access, makeCertificates, startApiServer, type User } from "../../src/lab/apiserver/index.ts";
import { kubeContract, type ServerUnderTest } from "./kube.ts";

const ADMIN: User = { name: "admin", groups: ["system:masters"] };
const READER: User = { name: "reader", groups: [] };

kubeContract("embedded", openEmbedded);

async function openEmbedded(): Promise<ServerUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), "kilomesh-contract-"));
  const { ca, server: tls } = await makeCertificates(folder);
  const tokens: Record<string, User> = { admin: ADMIN };
  const server = await startApiServer({ tls, tokens, authorizer: authorize, bookmarkInterval: 1_000 });
  let issued = 0;
  return {
    config: {
      server: server.url,
      source: "the embedded server",
      credentials: () => ({ ca, token: "admin" }),
    },
    stop: () => server.pause(),
    start: () => server.resume(),
    expire: async () => server.compact(),
    async issueToken() {
      issued += 1;
      tokens[`reader-${issued}`] = READER;
      return `reader-${issued}`;
    },
    async revokeToken(token) {
      delete tokens[token];
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

function authorize({ user, verb, resource, subresource }: Access): boolean {
  if (user.name === ADMIN.name) return true;
  return resource === "nodes" && subresource === undefined && ["get", "list", "watch"].includes(verb);
}
