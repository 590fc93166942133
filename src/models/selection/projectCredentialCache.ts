import { LRUCache } from 'lru-cache';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';

const MAX_PROJECTS = 10_000;
/** A change holds for turns that begin this much later. */
const FRESH_MS = 5000;

type Known = readonly ProviderCredentials[];

interface Entry {
  /** The project's credentials; undefined until the first read has ended. */
  known: Known | undefined;
  readAtMs: number;
  reading: Promise<Known> | undefined;
}

/** Reads projects' credentials ahead of their turns, which do not wait for a slow database. */
export class ProjectCredentialCache {
  readonly #read: (projectId: string) => Promise<Known>;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_PROJECTS });

  constructor(read: (projectId: string) => Promise<Known>, clock: Clock, onError: (error: unknown) => void) {
    this.#read = read;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Returns the project's credentials. It never rejects: after a failed read it returns the last ones, or none. */
  async of(projectId: string): Promise<Known> {
    const entry = this.#entryOf(projectId);
    const ageMs = this.#clock.monotonicMs() - entry.readAtMs;
    const reading = ageMs < FRESH_MS ? entry.reading : this.#refresh(projectId, entry);
    return ageMs < 2 * FRESH_MS && entry.known ? entry.known : ((await reading) ?? entry.known ?? []);
  }

  /** Stores credentials that were just read elsewhere. */
  prime(projectId: string, known: Known): void {
    Object.assign(this.#entryOf(projectId), { known, readAtMs: this.#clock.monotonicMs() });
  }

  /** Refreshes a project's credentials while a session lives. @returns A function that stops it. */
  keepFresh(projectId: string): () => void {
    const read = async () => void (await this.of(projectId));
    const stop = repeat(this.#clock, FRESH_MS / 2, read, this.#onError, 0);
    return () => void stop();
  }

  #entryOf(projectId: string): Entry {
    const entry = this.#entries.get(projectId);
    if (entry) return entry;
    const unknown = { known: undefined, readAtMs: Number.NEGATIVE_INFINITY, reading: undefined };
    this.#entries.set(projectId, unknown);
    return unknown;
  }

  #refresh(projectId: string, entry: Entry): Promise<Known> {
    const startedMs = this.#clock.monotonicMs();
    const read = async () => {
      const known = await this.#read(projectId).catch((error: unknown) => {
        this.#onError(error);
        return entry.known ?? [];
      });
      if (startedMs >= entry.readAtMs) Object.assign(entry, { known, readAtMs: startedMs });
      entry.reading = undefined;
      return known;
    };
    entry.reading ??= read();
    return entry.reading;
  }
}
