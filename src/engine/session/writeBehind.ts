import { sleep } from '../../base/async/sleep.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import { isUnavailable, unavailable } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AddOptOut } from '../tools/callbacks.ts';
import type { HistoryEvent, Session } from './session.ts';
import { recordLateTurn, type SessionEnding, type TurnHistory, type TurnStore } from './sessionStore.ts';

/** The caller hears nothing while the database is waited for. A session that is not held has nothing else to continue from. */
const DATABASE_TIMEOUT_MS = 1_500;
const RETRY_MS = 250;
/** The next turn, whose caller may be waiting, does not wait longer for this one to be stored. A near database takes less. */
const SAVE_PATIENCE_MS = 50;

/** A turn that waits for the database, with the session after it. */
export interface PendingTurn {
  readonly session: Session;
  readonly record: TurnHistory;
}

/** Holds pending turns on disk, in case this process ends before they are stored. */
export interface TurnSpool {
  /** Appends a turn to its session's. */
  put(turn: PendingTurn): Promise<void>;
  /** Drops a session, all of whose turns are stored. */
  drop(instanceId: string): Promise<void>;
  /** @returns The turns that earlier processes left, by session. */
  readPending(): Promise<readonly (readonly PendingTurn[])[]>;
}

export interface WriteBehindDeps {
  readonly sessions: TurnStore;
  readonly spool: TurnSpool;
  /** Lists numbers that turns have kept; undefined where no calls can be placed. */
  readonly addOptOut?: AddOptOut | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

type Ending = (session: Session) => Promise<SessionEnding | undefined>;
type Pending =
  | ({
      readonly kind: 'turn';
      /** The first attempt, where it has begun. */
      saving?: Promise<void> | undefined;
    } & PendingTurn)
  | { readonly kind: 'end'; readonly session: Session; readonly ending: Ending };

/** A session that this node holds in memory. */
interface HeldSession {
  newest: Session;
  /** Dropped from memory once its pending work is stored. */
  isForgotten: boolean;
  readonly pending: Pending[];
  /** Runs while pending work is being stored. */
  storing: Promise<void> | undefined;
}

/**
 * A session store with write-behind, for sessions that only this node uses. While the database is unavailable, or too slow
 * for a caller, a session that was found before continues from memory; its turns and its end wait there and in the spool,
 * and are stored in order once the database is back.
 */
export class WriteBehind implements TurnStore {
  readonly #deps: WriteBehindDeps;
  readonly #held = new Map<string, HeldSession>();
  #isClosed = false;

  constructor(deps: WriteBehindDeps) {
    this.#deps = deps;
  }

  /** Stores what earlier processes left in the spool, in the background. */
  async start(): Promise<void> {
    for (const turns of await this.#deps.spool.readPending())
      for (const turn of turns) {
        const held = this.#hold(turn.session);
        held.isForgotten = true;
        this.#storeLater(held, { kind: 'turn', ...turn });
      }
  }

  /** Drops a session from memory; its pending work is stored all the same. Idempotent. */
  forget(projectId: string, sessionId: string): void {
    const key = keyOf(projectId, sessionId);
    const held = this.#held.get(key);
    if (held?.storing) held.isForgotten = true;
    else this.#held.delete(key);
  }

  /** Holds a session that was read elsewhere. */
  hold(session: Session): void {
    this.#hold(session);
  }

  /** Returns the session as this node holds it, without a database query. */
  peek(projectId: string, sessionId: string): Session | undefined {
    return this.#held.get(keyOf(projectId, sessionId))?.newest;
  }

  async insert(session: Session, started: HistoryEvent): Promise<void> {
    await this.#deps.sessions.insert(session, started);
    this.#hold(session);
  }

  async find(projectId: string, sessionId: string): Promise<Session | undefined> {
    const key = keyOf(projectId, sessionId);
    const before = this.#held.get(key);
    if (before?.storing) return before.newest;
    const newest = before?.newest;
    try {
      const read = this.#deps.sessions.find(projectId, sessionId);
      const found = await (before ? this.#withTimeout(read) : read);
      const now = this.#held.get(key);
      // A turn may have been run during the read.
      if (now?.storing) return now.newest;
      if (now?.newest !== newest) return found;
      if (!found) this.#held.delete(key);
      // It may have been read before a turn whose storing had begun.
      else if (now?.newest.instanceId === found.instanceId && found.turn < now.newest.turn) return now.newest;
      else this.#hold(found);
      return found;
    } catch (error) {
      const now = this.#held.get(key);
      if (now && isUnavailable(error)) return now.newest;
      throw error;
    }
  }

  async saveTurn(session: Session, record: TurnHistory): Promise<void> {
    const { sessions, spool, onError } = this.#deps;
    const held = this.#hold(session);
    let saving: Promise<void> | undefined;
    if (!held.storing && !record.optOut) {
      try {
        saving = sessions.saveTurn(session, record);
        if (await this.#endsSoon(saving)) return;
      } catch (error) {
        saving = undefined;
        if (!isUnavailable(error)) {
          // What this node knows is not what is stored.
          const key = keyOf(session.projectId, session.sessionId);
          if (this.#held.get(key)?.newest === session) this.#held.delete(key);
          throw error;
        }
        onError(error, 'turn waits for the database');
      }
    }
    await spool
      .put({ session, record })
      .catch((error: unknown) => onError(error, 'turn not spooled, waits in memory only'));
    this.#storeLater(held, { kind: 'turn', session, record, saving });
  }

  async appendLateTurn(session: Session, record: TurnHistory): Promise<void> {
    await this.#deps.sessions.appendLateTurn(session, record);
  }

  async end(projectId: string, sessionId: string, ending: Ending): Promise<Session | undefined> {
    const { sessions } = this.#deps;
    const held = this.#held.get(keyOf(projectId, sessionId));
    if (!held?.storing) {
      try {
        const ended = sessions.end(projectId, sessionId, ending);
        return await (held ? this.#withTimeout(ended) : ended);
      } catch (error) {
        if (!held || !isUnavailable(error)) throw error;
      }
    }
    this.#storeLater(held, { kind: 'end', session: held.newest, ending });
    return held.newest;
  }

  /** Tries once more to store what is pending; the rest stays in the spool. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#held.values()].map(({ storing }) => storing));
  }

  #hold(session: Session): HeldSession {
    const key = keyOf(session.projectId, session.sessionId);
    const known = this.#held.get(key);
    // The id of an ended session may be used again while turns of the former session still wait.
    if (known && known.newest.instanceId === session.instanceId) {
      known.newest = session;
      return known;
    }
    const held = { newest: session, isForgotten: false, pending: [], storing: undefined };
    this.#held.set(key, held);
    return held;
  }

  #storeLater(held: HeldSession, pending: Pending): void {
    held.pending.push(pending);
    held.storing ??= this.#storeAll(held);
  }

  async #storeAll(held: HeldSession): Promise<void> {
    const { spool, onError } = this.#deps;
    const { projectId, sessionId, instanceId } = held.newest;
    // A turn may be added while the spool is emptied.
    while (held.pending.length > 0) {
      await this.#storePending(held);
      if (held.pending.length > 0) break;
      await spool.drop(instanceId).catch((error: unknown) => onError(error, 'turn spool not emptied'));
    }
    held.storing = undefined;
    const key = keyOf(projectId, sessionId);
    if (held.isForgotten && this.#held.get(key) === held) this.#held.delete(key);
  }

  /** Returns with work left only when this store is closed. */
  async #storePending(held: HeldSession): Promise<void> {
    const { clock, onError } = this.#deps;
    for (let [first] = held.pending; first; [first] = held.pending) {
      try {
        await this.#withTimeout(this.#store(first));
      } catch (error) {
        if (isUnavailable(error)) {
          if (first.kind === 'turn') first.saving = undefined;
          if (this.#isClosed) return;
          await sleep(clock, RETRY_MS);
          continue;
        }
        onError(error, 'pending turn not stored');
      }
      held.pending.shift();
    }
  }

  async #store(pending: Pending): Promise<void> {
    const { sessions, addOptOut } = this.#deps;
    const { session } = pending;
    if (pending.kind === 'end') {
      await sessions.end(session.projectId, session.sessionId, pending.ending);
      return;
    }
    if (pending.record.optOut) await addOptOut?.(pending.record.optOut);
    try {
      await (pending.saving ?? sessions.saveTurn(session, pending.record));
    } catch (error) {
      // The turn is stored already where only the answer to an earlier attempt was lost.
      const current = await recordLateTurn(sessions, session, pending.record, error);
      if (current && current.turn < session.turn) throw error;
    }
  }

  /** @returns Whether it has ended within a moment. @throws The error that it has failed with by then. */
  async #endsSoon(work: Promise<void>): Promise<boolean> {
    let hasEnded = false;
    const ended = work.finally(() => {
      hasEnded = true;
    });
    await withTimeout(this.#deps.clock, ended, SAVE_PATIENCE_MS);
    if (hasEnded) await ended;
    return hasEnded;
  }

  /** @throws {CallwayError} 503 when the database takes too long. */
  #withTimeout<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const timer = this.#deps.clock.setTimer(() => reject(unavailable('database')), DATABASE_TIMEOUT_MS);
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

const keyOf = (projectId: string, sessionId: string) => `${projectId} ${sessionId}`;
