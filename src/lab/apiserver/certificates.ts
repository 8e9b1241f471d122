/** A certificate authority and what it signs, made by the openssl command: Node.js itself cannot sign certificates. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Long enough for any lab, short enough that a forgotten key is worthless soon. */
const DAYS = "30";

/** Certificates could not be made; the message says why and what to do. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
  readonly code = "CERTIFICATE";
}

/** A certificate with its key, in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A client certificate to be made: the user name becomes the subject's CN, the groups its O. */
export interface ClientSubject {
  readonly name: string;
  readonly groups?: readonly string[];
}

/** Which certificates to make. */
export interface CertificateOptions {
  /** Names and addresses the server is reached by (default: localhost, 127.0.0.1, ::1). */
  readonly hosts?: readonly string[];
  /** Client certificates (default: none). */
  readonly clients?: readonly ClientSubject[];
}

/** What was made, in PEM; the same is in the folder as ca.crt, server.crt, server.key and client-NAME.crt, client-NAME.key. */
export interface Certificates {
  readonly ca: string;
  readonly server: KeyPair;
  readonly clients: Readonly<Record<string, KeyPair>>;
}

/**
 * Makes a CA, a server certificate with the hosts as subject alternative names, and client certificates (P-256, 30 days) in a
 * folder, which is created. Throws CertificateError when openssl is missing or fails.
 */
export async function makeCertificates(
  folder: string,
  options: CertificateOptions = {},
): Promise<Certificates> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const hosts = options.hosts ?? ["localhost", "127.0.0.1", "::1"];
  const names = hosts.map((host) => `${isIP(host) === 0 ? "DNS" : "IP"}:${host}`).join(",");
  await makeAuthority(folder);
  const server = await sign(folder, "server", "/CN=kilomesh-lab", [
    `subjectAltName=${names}`,
    "extendedKeyUsage=serverAuth",
  ]);
  const clients: Record<string, KeyPair> = {};
  for (const { name, groups = [] } of options.clients ?? []) {
    const subject = `${groups.map((group) => `/O=${escaped(group)}`).join("")}/CN=${escaped(name)}`;
    clients[name] = await sign(folder, `client-${name.replaceAll(/[^\w.-]/g, "-")}`, subject, [
      "extendedKeyUsage=clientAuth",
    ]);
  }
  return { ca: await readFile(join(folder, "ca.crt"), "utf8"), server, clients };
}

async function makeAuthority(folder: string): Promise<void> {
  const subject = ["-subj", "/CN=kilomesh-lab-ca", "-days", DAYS];
  const use = [
    "-addext",
    "basicConstraints=critical,CA:TRUE",
    "-addext",
    "keyUsage=critical,keyCertSign,cRLSign",
  ];
  await openssl(folder, [
    "req",
    "-x509",
    ...NEW_KEY,
    ...subject,
    ...use,
    "-keyout",
    "ca.key",
    "-out",
    "ca.crt",
  ]);
}

async function sign(
  folder: string,
  name: string,
  subject: string,
  extensions: readonly string[],
): Promise<KeyPair> {
  const files = {
    request: `${name}.csr`,
    extensions: `${name}.ext`,
    key: `${name}.key`,
    cert: `${name}.crt`,
  };
  const lines = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature", ...extensions];
  await writeFile(join(folder, files.extensions), `${lines.join("\n")}\n`);
  await openssl(folder, ["req", ...NEW_KEY, "-subj", subject, "-keyout", files.key, "-out", files.request]);
  const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", DAYS];
  const input = ["-in", files.request, "-extfile", files.extensions];
  await openssl(folder, ["x509", "-req", ...input, ...authority, "-out", files.cert]);
  const [cert, key] = await Promise.all(
    [files.cert, files.key].map((file) => readFile(join(folder, file), "utf8")),
  );
  return { cert: cert ?? "", key: key ?? "" };
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

function escaped(text: string): string {
  return text.replaceAll(/[\\/]/g, "\\$&");
}

async function openssl(folder: string, args: readonly string[]): Promise<void> {
  try {
    await run("openssl", [...args], { cwd: folder });
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = missing ? "the openssl command is missing (install the package openssl)" : detail(error);
    throw new CertificateError(`cannot make certificates in ${folder}: ${why}`, { cause: error });
  }
}

function detail(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim().split("\n").at(-1) || message;
}
