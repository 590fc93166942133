/** Chunks that may overtake a missing one: 100 ms. A chunk that is later than that is lost. */
const MAX_HELD_CHUNKS = 5;

/** Puts numbered chunks of a carrier that does not guarantee their order into it. */
export class ChunkOrder {
  #next: number | undefined;
  readonly #held = new Map<number, Int16Array>();

  /**
   * @param samples - Copied where they wait.
   * @returns The chunks that are now in order; none for a late or repeated one.
   */
  push(chunk: number, samples: Int16Array): Int16Array[] {
    this.#next ??= chunk;
    if (chunk < this.#next) return [];
    if (chunk === this.#next && this.#held.size === 0) {
      this.#next++;
      return [samples];
    }
    this.#held.set(chunk, samples.slice());
    if (this.#held.size > MAX_HELD_CHUNKS) this.#next = Math.min(...this.#held.keys());
    const ordered: Int16Array[] = [];
    for (;;) {
      const next = this.#held.get(this.#next);
      if (next === undefined) return ordered;
      this.#held.delete(this.#next);
      ordered.push(next);
      this.#next++;
    }
  }
}
