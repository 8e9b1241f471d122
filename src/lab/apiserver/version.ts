/** The Kubernetes version this server behaves like. */

/** The document at /version. */
export type VersionInfo = Readonly<
  Record<
    | "major"
    | "minor"
    | "gitVersion"
    | "gitCommit"
    | "gitTreeState"
    | "buildDate"
    | "goVersion"
    | "compiler"
    | "platform",
    string
  >
>;

/** 1.35 is the kubectl this server is tested with; the suffix tells a reader that it is no real cluster. */
export const VERSION: VersionInfo = {
  major: "1",
  minor: "35",
  gitVersion: "v1.35.0+kilomesh-lab",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "node",
  platform: `${process.platform}/${process.arch}`,
};
