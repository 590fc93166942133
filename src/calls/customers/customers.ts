import type { AuditAction, AuditEntry } from '../../agents/accounts/audit.ts';
import { readPages } from '../../base/async/readPages.ts';
import { repeat } from '../../base/async/repeat.ts';
import { sleep } from '../../base/async/sleep.ts';
import { CallwayError, notFound } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { TurnCheckpointStore } from '../../engine/session/interruptedTurn.ts';
import type { TurnSpool } from '../../engine/session/writeBehind.ts';
import type { CallRecordings } from '../recording/callRecordings.ts';
import type { Customer, CustomerName, CustomerStore, ErasedBatch } from './customer.ts';

/** An ended call stores its recording within moments. */
const SETTLE_TIMEOUT_MS = 5_000;
const POLL_MS = 100;
/** The interval at which erasures of failed nodes are resumed. */
const RESUME_MS = 30_000;
const RESUMED_AT_ONCE = 20;
const NEVER = new AbortController().signal;

/** The author of an erasure, for the audit log. */
export type Author = Pick<AuditEntry, 'actor' | 'requestId'>;

export interface CustomersDeps {
  readonly store: CustomerStore;
  readonly checkpoints: TurnCheckpointStore;
  readonly spool: TurnSpool;
  /** Removes the project's live events: single ones cannot be removed from their pages. */
  readonly forgetEvents: (projectId: string) => Promise<void>;
  readonly recordings: CallRecordings;
  /** A keyed digest: the audit log must not name the person. */
  readonly digest: (text: string) => string;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Reads and erases the data that is stored about one person.
 *
 * An erasure is stored before it begins and proceeds in batches, so that any node finishes what another has begun. A batch
 * removes the rows first; the copies outside of the database go next: recordings are on the list of files to remove from
 * then on, checkpoints and live events expire, and a spooled turn without a session is dropped by its node.
 */
export class Customers {
  readonly #deps: CustomersDeps;

  constructor(deps: CustomersDeps) {
    this.#deps = deps;
  }

  /** @throws {CallwayError} 404 `customer_not_found` where nothing is kept. */
  async find(name: CustomerName): Promise<Customer> {
    const found = await this.#deps.store.find(name);
    if (!found) throw notFound('Customer');
    return { ...found, keyHash: this.hashOf(name) };
  }

  /** @throws {CallwayError} 404 `customer_not_found` where nothing is remembered. */
  async removeMemory(name: CustomerName, author: Author): Promise<void> {
    const entry = this.#entry(name, 'customer.memory_deleted', author);
    if (!(await this.#deps.store.removeMemory(name, entry))) throw notFound('Customer');
  }

  /**
   * Erases all that is kept of a person. May be repeated.
   *
   * @throws {CallwayError} 409 `customer_on_call` while a call of theirs is queued or in progress.
   */
  async erase(name: CustomerName, author: Author): Promise<void> {
    await this.#requireNoCall(name);
    await this.#deps.store.requestErasure(name, this.#entry(name, 'customer.erased', author));
    await this.#finish(name);
  }

  /**
   * Finishes what other nodes have begun.
   *
   * @returns A function that stops it and waits for the running step; idempotent.
   */
  startResuming(): () => Promise<void> {
    const { clock, onError } = this.#deps;
    const resume = () => this.resume();
    return repeat(clock, RESUME_MS, resume, (error) => onError(error, 'erasures not resumed, retrying'));
  }

  async resume(): Promise<void> {
    const { store, onError } = this.#deps;
    const read = (limit: number, after?: CustomerName) => store.pendingErasures(limit, after);
    const failed = (error: unknown) => onError(error, 'customer not erased, retrying');
    // A failure of one does not hold up the others.
    for await (const names of readPages(RESUMED_AT_ONCE, read))
      for (const name of names) await this.#finish(name).catch(failed);
  }

  async #finish(name: CustomerName): Promise<void> {
    for (;;) {
      const batch = await this.#deps.store.eraseNext(name);
      if (batch) await this.#eraseCopies(name.projectId, batch);
      if (!batch || batch.isLast) return;
    }
  }

  /**
   * Erases the copies outside of the database. A copy that cannot be erased stays on the list of files to remove, or
   * expires.
   */
  async #eraseCopies(projectId: string, { instanceIds, callIds, recordingKeys }: ErasedBatch): Promise<void> {
    const { checkpoints, spool, forgetEvents, recordings, onError } = this.#deps;
    const outcomes = await Promise.allSettled([
      forgetEvents(projectId),
      ...instanceIds.flatMap((id) => [checkpoints.drop(id), spool.drop(id)]),
      ...callIds.map((id) => recordings.removeWorkingFile({ id })),
      ...recordingKeys.map((key) => recordings.remove(key)),
    ]);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') onError(outcome.reason, 'copy of erased data not removed, retrying');
  }

  async #requireNoCall(name: CustomerName): Promise<void> {
    const { store, clock } = this.#deps;
    const untilMs = clock.monotonicMs() + SETTLE_TIMEOUT_MS;
    for (;;) {
      const calls = await store.unsettledCalls(name);
      if (calls.length === 0) return;
      const isLive = calls.some(({ hasEnded }) => !hasEnded);
      if (isLive || clock.monotonicMs() >= untilMs) throw onCall(calls.map(({ id }) => id));
      await sleep(clock, POLL_MS, NEVER);
    }
  }

  #entry({ projectId, key }: CustomerName, action: AuditAction, author: Author): AuditEntry {
    const { clock, makeId } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    const target = this.hashOf({ projectId, key });
    return { id: makeId(), projectId, at, action, target, details: {}, ...author };
  }

  /** Returns the name of a person in the audit log: a keyed digest in place of the number or id. */
  hashOf({ projectId, key }: CustomerName): string {
    return this.#deps.digest(`customer ${projectId} ${key}`);
  }
}

function onCall(callIds: readonly string[]): CallwayError {
  const message = 'A call of this customer is queued or in progress; hang it up, or try again after its end';
  return new CallwayError('conflict', 'customer_on_call', message, { extra: { callIds } });
}
