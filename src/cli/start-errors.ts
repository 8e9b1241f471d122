/** Errors that a person can mend, told as one line instead of a stack. */
import { InputError } from "./errors.ts";

/**
 * Runs something and turns its known errors, those of our own classes with a stable `code`, into what `main` prints. Anything else is a
 * fault of the program and keeps its stack.
 */
export async function sayPlainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isKnown(error)) throw error;
    throw new InputError(error.message, { cause: error });
  }
}

/** Node's own errors have a code too, but their messages do not say what to do; they come wrapped from where that is known. */
function isKnown(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.message.startsWith("cannot ");
}
