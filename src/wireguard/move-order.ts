/** The order in which peers are set when prefixes move between them. */
import type { Prefix } from "../ip/index.ts";
import type { PeerSetting } from "./changes.ts";
import type { PublicKey } from "./key.ts";

/**
 * Orders settings so that a peer which takes a prefix comes before the peer it takes it from; otherwise as given. In a ring of peers
 * that take from each other, where no such order exists, the one given first comes last.
 *
 * @param lostBy prefixes that a peer holds and others shall have
 * @param owners who shall have a prefix, by its text
 */
export function gainersFirst(
  settings: readonly PeerSetting[],
  lostBy: (peer: PublicKey) => readonly Prefix[],
  owners: ReadonlyMap<string, PublicKey>,
): PeerSetting[] {
  const byKey = new Map(settings.map((setting) => [setting.publicKey, setting]));
  const gainersFrom = (loser: PeerSetting): PeerSetting[] => {
    const keys = new Set(lostBy(loser.publicKey).map((prefix) => owners.get(prefix.text)));
    return [...keys].flatMap((key) => (key === undefined ? [] : (byKey.get(key) ?? [])));
  };
  return postOrder(settings, gainersFrom);
}

/** Each item after those it depends on. With a stack of its own: a chain of renumbered peers is as long as the mesh is large. */
function postOrder<Item>(items: readonly Item[], dependsOn: (item: Item) => readonly Item[]): Item[] {
  const entered = new Set<Item>();
  const left = new Set<Item>();
  const stack = [...items].reverse();
  for (let item = stack.at(-1); item !== undefined; item = stack.at(-1)) {
    if (entered.has(item)) {
      stack.pop();
      left.add(item);
      continue;
    }
    entered.add(item);
    stack.push(
      ...dependsOn(item)
        .filter((dependency) => !entered.has(dependency))
        .reverse(),
    );
  }
  return [...left];
}
