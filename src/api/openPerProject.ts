/** Counts what each project has open at the same time on this node. */
export class OpenPerProject {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns Counts it as closed, to be called once; undefined where the project has as many as it may. */
  enter(projectId: string): (() => void) | undefined {
    const count = this.#open.get(projectId) ?? 0;
    if (count >= this.#most) return undefined;
    this.#open.set(projectId, count + 1);
    return () => this.#leave(projectId);
  }

  #leave(projectId: string): void {
    const left = (this.#open.get(projectId) ?? 1) - 1;
    if (left > 0) this.#open.set(projectId, left);
    else this.#open.delete(projectId);
  }
}
