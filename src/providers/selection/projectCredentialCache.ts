import { LRUCache } from 'lru-cache';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { Clock } from '../../base/clock.ts';

const MAX_PROJECTS = 10_000;
/** A change holds for turns that begin this much later. */
const FRESH_MS = 5000;

interface Entry {
  readonly value: Promise<readonly ProviderCredentials[]>;
  readonly atMs: number;
}

/** Reads projects' credentials ahead of their turns, which do not wait for a slow database. */
export class ProjectCredentialCache {
  readonly #read: (projectId: string) => Promise<readonly ProviderCredentials[]>;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_PROJECTS });

  constructor(
    read: (projectId: string) => Promise<readonly ProviderCredentials[]>,
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#read = read;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Never rejects: where they cannot be read, they are as they were last, or none. */
  of(projectId: string): Promise<readonly ProviderCredentials[]> {
    const known = this.#entries.get(projectId);
    const nowMs = this.#clock.monotonicMs();
    if (known && nowMs - known.atMs < FRESH_MS) return known.value;
    const value = this.#read(projectId).catch((error: unknown) => {
      this.#onError(error);
      return known?.value ?? [];
    });
    this.#entries.set(projectId, { value, atMs: nowMs });
    // A session that goes on may have read them long ago.
    return known && nowMs - known.atMs < 2 * FRESH_MS ? known.value : value;
  }
}
