/** Which API server, and who we are there: what every way of configuration ends in. */

/** Texts in PEM form, and a bearer token. Secrets: never print, log or keep them; ask again for each request. */
export interface Credentials {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly token?: string | undefined;
}

export interface ClusterConfig {
  /** `https://host:port`, optionally with a path; `http://` and `unix:///socket` for servers in tests and labs. */
  readonly server: string;
  /** Name expected in the server's certificate, where it is not the host of `server`. */
  readonly serverName?: string | undefined;
  /** Accept any certificate. @default false */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** Where this came from, for messages: `kubeconfig /etc/x, context y`. */
  readonly source: string;
  /** Namespace to use when none is said; undefined when the configuration has none. */
  readonly namespace?: string | undefined;
  /**
   * Credentials as they are now. Files are read again each time (projected tokens and kubelet certificates rotate); while one cannot
   * be read, what was read last stays. A function, so that printing the configuration prints no secret.
   */
  readonly credentials: () => Credentials;
}

/** What configuration needs of the machine it runs on. */
export interface ConfigHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file as UTF-8; throws Node's error when it cannot. */
  readonly readFile: (path: string) => string;
}
