/** A file with a token or certificate that somebody else rotates. */
import type { ConfigHost } from "./cluster-config.ts";
import { ConfigError } from "./errors.ts";
import { fileReason } from "./file-reason.ts";

/**
 * Reads a credential anew each time it is asked for: a read costs 20 µs, and a token that is a minute old may be refused.
 * While the file cannot be read or is empty, the last text stays; only the first read throws.
 */
export class CredentialFile {
  readonly #path: string;
  readonly #what: string;
  readonly #host: ConfigHost;
  #last: string | undefined;

  constructor(path: string, what: string, host: ConfigHost) {
    this.#path = path;
    this.#what = what;
    this.#host = host;
  }

  /** The text of the file. Throws ConfigError when it never could be read. */
  read(): string {
    try {
      const text = this.#host.readFile(this.#path);
      if (text.trim() === "") throw new Error("the file is empty");
      this.#last = text;
      return text;
    } catch (error) {
      if (this.#last !== undefined) return this.#last;
      throw new ConfigError(
        "Unreadable",
        `cannot read the ${this.#what} ${this.#path}: ${fileReason(error)}`,
        {
          cause: error,
        },
      );
    }
  }
}
