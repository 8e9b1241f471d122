import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { CLIENT, SERVER, TEST_CA } from "./certificates.test-kit.ts";
import type { ConfigHost } from "./cluster-config.ts";
import { type ConfigChoice, loadClusterConfig } from "./config.ts";
import { ConfigError } from "./errors.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const POD_ENV = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };

describe("in-cluster configuration", () => {
  it("is taken from the pod's mounted service account", () => {
    const config = loadClusterConfig({}, pod());
    assert.equal(config.server, "https://10.96.0.1:443");
    assert.equal(config.namespace, "kube-system");
    assert.deepEqual(config.credentials(), { token: "first", ca: TEST_CA });
  });

  it("writes an IPv6 service address in brackets", () => {
    const config = loadClusterConfig({}, pod({ ...POD_ENV, KUBERNETES_SERVICE_HOST: "fd00::1" }));
    assert.equal(config.server, "https://[fd00::1]:443");
  });

  it("reads a rotated token anew, and keeps the last one while the file is away", () => {
    const files = podFiles();
    const config = loadClusterConfig({}, hostWith(POD_ENV, files));
    files.set(`${ACCOUNT}/token`, "second\n");
    assert.equal(config.credentials().token, "second");
    files.delete(`${ACCOUNT}/token`);
    assert.equal(config.credentials().token, "second");
    files.set(`${ACCOUNT}/token`, "");
    assert.equal(config.credentials().token, "second");
  });

  it("a pod without a mounted token is told so", () => {
    assertRefused(
      {},
      hostWith(POD_ENV, new Map()),
      "Unreadable",
      /service account token .*token: no such file/,
    );
  });

  it("outside a pod and without kubeconfig it says what to give", () => {
    assertRefused({}, hostWith({}, new Map()), "NoCluster", /--kubeconfig FILE/);
  });

  it("--master replaces the address and keeps the credentials", () => {
    const config = loadClusterConfig({ master: "https://10.0.0.1:6443" }, pod());
    assert.equal(config.server, "https://10.0.0.1:6443");
    assert.equal(config.credentials().token, "first");
    const alone = loadClusterConfig({ master: "http://127.0.0.1:8080" }, hostWith({}, new Map()));
    assert.deepEqual([alone.server, alone.credentials()], ["http://127.0.0.1:8080", {}]);
  });
});

describe("kubeconfig", () => {
  it("gives server, name, namespace, CA and client certificate of the current context", () => {
    const config = load(kubeconfig());
    assert.equal(config.server, "https://10.0.0.1:6443");
    assert.equal(config.serverName, "kube.test");
    assert.equal(config.namespace, "team");
    assert.equal(config.insecureSkipTlsVerify, false);
    assert.deepEqual(config.credentials(), {
      ca: TEST_CA,
      certificate: CLIENT.certificate,
      key: CLIENT.key,
      token: undefined,
    });
  });

  it("another context is taken when it is asked for", () => {
    const config = load(kubeconfig(), {}, { context: "tokens" });
    assert.equal(config.server, "https://10.0.0.2:6443");
    assert.equal(config.insecureSkipTlsVerify, true);
    assert.equal(config.credentials().token, "abc");
  });

  it("files are found beside the kubeconfig and read anew; a token file beats a token", () => {
    const files = new Map([
      ["/etc/k/ca.pem", TEST_CA],
      ["/run/token", "one\n"],
      [
        "/etc/k/config",
        kubeconfig({ user: "{token: fixed, tokenFile: /run/token}", ca: "certificate-authority: ca.pem" }),
      ],
    ]);
    const config = loadClusterConfig({ kubeconfig: "/etc/k/config" }, hostWith({}, files));
    assert.deepEqual(config.credentials(), {
      ca: TEST_CA,
      certificate: undefined,
      key: undefined,
      token: "one",
    });
    files.set("/run/token", "two\n");
    assert.equal(config.credentials().token, "two");
  });

  it("a client certificate in files is read anew: the kubelet rotates its own", () => {
    const files = { "/etc/k/c.pem": CLIENT.certificate, "/etc/k/c.key": CLIENT.key };
    const config = load(kubeconfig({ user: "{client-certificate: c.pem, client-key: c.key}" }), files);
    assert.equal(config.credentials().certificate, CLIENT.certificate);
  });

  const refused: [string, string, string, RegExp][] = [
    [
      "no file",
      "",
      "Unreadable",
      /cannot read kubeconfig \/etc\/k\/config: no such file; check --kubeconfig/,
    ],
    ["no YAML", "a: [", "Malformed", /\/etc\/k\/config: it is not YAML: .* in line/],
    ["a list", "- a", "Malformed", /not a mapping/],
    ["no current context", "clusters: []", "Malformed", /no current-context/],
    ["a missing context", "current-context: x", "Malformed", /contexts has no entry named "x"/],
    ["a missing cluster", kubeconfig({ cluster: "gone" }), "Malformed", /clusters has no entry named "gone"/],
    [
      "a token that is a number",
      kubeconfig({ user: "{token: 12345}" }),
      "Malformed",
      /users\[u\] token is not a string/,
    ],
    [
      "exec",
      kubeconfig({ user: "{exec: {command: aws}}" }),
      "Unsupported",
      /users\[u\] has exec.*service account/,
    ],
    ["auth-provider", kubeconfig({ user: "{auth-provider: {name: oidc}}" }), "Unsupported", /auth-provider/],
    ["a password", kubeconfig({ user: "{username: a, password: b}" }), "Unsupported", /no passwords/],
    ["impersonation", kubeconfig({ user: "{token: t, as: admin}" }), "Unsupported", / as, which/],
    ["a proxy", kubeconfig({ ca: "proxy-url: http://p:3128" }), "Unsupported", /proxy-url/],
    [
      "certificate without key",
      kubeconfig({ user: "{client-certificate-data: YQ==}" }),
      "Malformed",
      /base64 of a PEM/,
    ],
    [
      "half a pair",
      kubeconfig({ user: `{client-certificate-data: ${base64(CLIENT.certificate)}}` }),
      "Malformed",
      /or neither/,
    ],
    [
      "a key of another certificate",
      kubeconfig({ user: pair(CLIENT.certificate, SERVER.key) }),
      "Malformed",
      /check CA, client certificate and key/,
    ],
    [
      "a missing token file",
      kubeconfig({ user: "{tokenFile: gone}" }),
      "Unreadable",
      /token of kubeconfig .* \/etc\/k\/gone/,
    ],
    ["an address that is none", kubeconfig({ server: "10.0.0.1" }), "Malformed", /https:\/\/host:port/],
  ];
  for (const [name, text, code, message] of refused) {
    it(`refuses ${name} and says what to do`, () => {
      const files = new Map(text === "" ? [] : [["/etc/k/config", text]]);
      assertRefused({ kubeconfig: "/etc/k/config" }, hostWith({}, files), code, message);
    });
  }

  it("neither errors nor the printed configuration show a secret", () => {
    const broken = `${kubeconfig({ user: "{token: hunter2" })}`;
    const error = assertRefused(
      { kubeconfig: "/etc/k/config" },
      hostWith({}, new Map([["/etc/k/config", broken]])),
      "Malformed",
      /YAML/,
    );
    assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /hunter2/);
    const config = load(kubeconfig({ user: "{token: hunter2}" }));
    assert.doesNotMatch(inspect(config, { depth: 10, showHidden: true }) + JSON.stringify(config), /hunter2/);
  });
});

function load(text: string, files: Record<string, string> = {}, choice: ConfigChoice = {}) {
  const all = new Map([["/etc/k/config", text], ...Object.entries(files)]);
  return loadClusterConfig({ kubeconfig: "/etc/k/config", ...choice }, hostWith({}, all));
}

function assertRefused(choice: ConfigChoice, host: ConfigHost, code: string, message: RegExp): ConfigError {
  let refused: ConfigError | undefined;
  assert.throws(
    () => loadClusterConfig(choice, host),
    (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      refused = error;
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    },
  );
  assert.ok(refused);
  return refused;
}

interface Parts {
  readonly user?: string;
  readonly ca?: string;
  readonly cluster?: string;
  readonly server?: string;
}

function kubeconfig(parts: Parts = {}): string {
  return `
apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: ${parts.cluster ?? "c"}, user: u, namespace: team}}
- {name: tokens, context: {cluster: d, user: t}}
clusters:
- name: c
  cluster:
    server: ${parts.server ?? "https://10.0.0.1:6443"}
    tls-server-name: kube.test
    ${parts.ca ?? `certificate-authority-data: ${base64(TEST_CA)}`}
- {name: d, cluster: {server: "https://10.0.0.2:6443", insecure-skip-tls-verify: true}}
users:
- {name: t, user: {token: abc}}
- name: u
  user: ${parts.user ?? pair(CLIENT.certificate, CLIENT.key)}
`;
}

function pair(certificate: string, key: string): string {
  return `{client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)}}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function podFiles(): Map<string, string> {
  return new Map([
    [`${ACCOUNT}/token`, "first\n"],
    [`${ACCOUNT}/ca.crt`, TEST_CA],
    [`${ACCOUNT}/namespace`, "kube-system"],
  ]);
}

function pod(env: Record<string, string> = POD_ENV): ConfigHost {
  return hostWith(env, podFiles());
}

function hostWith(env: Record<string, string>, files: Map<string, string>): ConfigHost {
  return {
    env,
    readFile(path) {
      const text = files.get(path);
      if (text === undefined) {
        throw Object.assign(new Error("ENOENT: no such file or directory, open"), { code: "ENOENT" });
      }
      return text;
    },
  };
}
