/** Why a file or stream cannot be read or written, in words instead of an errno with the call it came from. */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "a part of the path is no folder",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  ENOSPC: "no space left on device",
  EBADF: "it is closed",
};

/** The reason of a failed read or write; the error's own message when it is none of the usual ones. */
export function fileReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  return REASONS[code] ?? error.message;
}
