/**
 * Shares a node's slots for plays among projects: each takes a slot only while more are free than it has. One project
 * alone gets half of them, two a third each, and so on, so that another one always finds a slot at once, even when plays
 * last for minutes.
 *
 * @see A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches"
 */
export class PlaySlots {
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** @returns A function that frees the slot, to be called once; undefined when the project has its share. */
  take(projectId: string): (() => void) | undefined {
    const taken = this.#taken.get(projectId) ?? 0;
    if (taken >= this.#free) return undefined;
    this.#taken.set(projectId, taken + 1);
    this.#free -= 1;
    return () => this.#release(projectId);
  }

  #release(projectId: string): void {
    this.#free += 1;
    const left = (this.#taken.get(projectId) ?? 1) - 1;
    if (left === 0) this.#taken.delete(projectId);
    else this.#taken.set(projectId, left);
  }
}
