/**
 * A node's places for plays, shared among projects: each takes a place only while more are free than it has. One project
 * alone gets half of them, two a third each, and so on, so that another one always finds a place at once, also where
 * plays last for minutes.
 *
 * @see A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches"
 */
export class PlayPlaces {
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** @returns Frees the place; undefined where the project has its share. Call it once. */
  take(projectId: string): (() => void) | undefined {
    const taken = this.#taken.get(projectId) ?? 0;
    if (taken >= this.#free) return undefined;
    this.#taken.set(projectId, taken + 1);
    this.#free -= 1;
    return () => this.#leave(projectId);
  }

  #leave(projectId: string): void {
    this.#free += 1;
    const left = (this.#taken.get(projectId) ?? 1) - 1;
    if (left === 0) this.#taken.delete(projectId);
    else this.#taken.set(projectId, left);
  }
}
