/** Work whose result several claims share. */

/** A function that does its work at the first call, and gives the same promise at every other. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
