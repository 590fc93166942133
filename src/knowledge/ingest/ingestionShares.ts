/**
 * The most documents of one project that a node ingests at once. Half of {@link INGESTION_CONCURRENCY}, so that one
 * project's documents never hold up all others.
 */
const MAX_RUNNING_PER_PROJECT = 2;
/** Concurrent ingestions of a node; each may have a process that parses. */
export const INGESTION_CONCURRENCY = 4;
/** A project's documents that wait come back one after another, this far apart. */
const COME_BACK_MS = 250;
const MAX_WAIT_MS = 60_000;

/** Gives each project a share of a node's ingestions. */
export class IngestionShares {
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, number>();

  /** @returns The work's result, or when to try again, since the project's share is used up. */
  async run<Result>(projectId: string, work: () => Promise<Result>): Promise<Result | { afterMs: number }> {
    // It may be one of those that were told to come back.
    change(this.#waiting, projectId, -1);
    if ((this.#running.get(projectId) ?? 0) >= MAX_RUNNING_PER_PROJECT) {
      const waiting = change(this.#waiting, projectId, 1);
      return { afterMs: Math.min(MAX_WAIT_MS, waiting * COME_BACK_MS) };
    }
    change(this.#running, projectId, 1);
    try {
      return await work();
    } finally {
      change(this.#running, projectId, -1);
    }
  }
}

/** @returns The new count, never below 0. */
function change(counts: Map<string, number>, key: string, by: number): number {
  const count = Math.max(0, (counts.get(key) ?? 0) + by);
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
  return count;
}
