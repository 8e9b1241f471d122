/** The parts of Node and Peer objects that the mesh reads. Structural: any Kubernetes object with these fields will do. */

export interface NodeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec?:
    | { readonly podCIDR?: string | undefined; readonly podCIDRs?: readonly string[] | undefined }
    | undefined;
  readonly status?:
    | { readonly addresses?: readonly { readonly type: string; readonly address: string }[] | undefined }
    | undefined;
}

export interface PeerObject {
  readonly metadata: { readonly name: string; readonly uid?: string | undefined };
  readonly spec?:
    | {
        readonly allowedIPs?: readonly string[] | null | undefined;
        readonly publicKey?: string | undefined;
        /** The older shape `{ip, port}` is read too (report K-89). */
        readonly endpoint?:
          | {
              readonly dnsOrIP?:
                | { readonly dns?: string | undefined; readonly ip?: string | undefined }
                | undefined;
              readonly ip?: string | undefined;
              readonly port?: number | undefined;
            }
          | undefined;
        /** Seconds; 0 is off. */
        readonly persistentKeepalive?: number | undefined;
        readonly presharedKey?: string | undefined;
      }
    | undefined;
}
