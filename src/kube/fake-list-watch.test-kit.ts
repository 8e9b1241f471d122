/** For tests of what stands on a client: lists and watches that the test answers by hand. */
import type { ListPageOptions, ListWatch, WatchOptions } from "./client.ts";
import type { KubeObject, ListPage, RawObject, WatchEvent } from "./objects.ts";

/** A list or watch that waits for its answer. */
export interface FakeList {
  readonly options: ListPageOptions;
  answer(names: readonly (string | RawObject)[], resourceVersion: string, next?: string): void;
  fail(error: unknown): void;
}

export interface FakeWatch {
  readonly options: WatchOptions<RawObject>;
  open(): void;
  /** Throws what the reader throws; the watch has then ended with it, as the true one does. */
  send(type: WatchEvent<RawObject>["type"], object: string | RawObject, resourceVersion: string): void;
  end(): void;
  fail(error: unknown): void;
}

export interface FakeListWatch extends ListWatch {
  readonly lists: FakeList[];
  readonly watches: FakeWatch[];
}

/** Makes a client that only remembers what it was asked; a signal ends it as it ends the true one. */
export function createFakeListWatch(): FakeListWatch {
  const lists: FakeList[] = [];
  const watches: FakeWatch[] = [];
  return {
    lists,
    watches,
    listPage<T extends KubeObject>(_resource: unknown, options: ListPageOptions = {}) {
      return new Promise<ListPage<T>>((resolve, reject) => {
        options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
        lists.push({
          options,
          fail: reject,
          answer: (objects, resourceVersion, next) =>
            resolve({
              items: objects.map((object) => toObject(object, resourceVersion)) as unknown as T[],
              resourceVersion,
              continue: next,
            }),
        });
      });
    },
    watch<T extends KubeObject>(_resource: unknown, given: WatchOptions<T>) {
      const options = given as unknown as WatchOptions<RawObject>;
      return new Promise<void>((resolve, reject) => {
        options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
        watches.push({
          options,
          open: () => options.onOpen?.(),
          end: resolve,
          fail: reject,
          send(type, object, resourceVersion) {
            try {
              options.onEvent({ type, object: toObject(object, resourceVersion) });
            } catch (error) {
              reject(error);
            }
          },
        });
      });
    },
  };
}

function toObject(object: string | RawObject, resourceVersion: string): RawObject {
  const given = typeof object === "string" ? { metadata: { name: object } } : object;
  return { ...given, metadata: { ...given.metadata, resourceVersion } };
}
