/** What keeps a twin from forwarding packets. A test sets it, and who watches is told. */
export class MemoryForwarding {
  readonly #listeners = new Set<() => void>();
  #drops: readonly string[] = [];
  #isOn = true;

  /** What `foreignForwardDrops` finds. */
  get drops(): readonly string[] {
    return this.#drops;
  }

  set drops(drops: readonly string[]) {
    this.#drops = drops;
    this.#tell();
  }

  /** What `forwardsPackets` says. @default true */
  get isOn(): boolean {
    return this.#isOn;
  }

  set isOn(isOn: boolean) {
    this.#isOn = isOn;
    this.#tell();
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
