import type { Clock } from '../../base/clock.ts';
import { isUnavailable, unavailable } from '../../base/errors.ts';
import { keepLateTurn } from './lateTurn.ts';
import type { Session } from './session.ts';
import type { SessionStore, TurnHistory } from './sessionStore.ts';

/** A caller hears nothing while the database is waited for. */
const LONGEST_WAIT_MS = 1_500;
/** While it is away, it is asked again so often. */
const RETRY_MS = 250;

/** A turn that a talk has taken, and the session as it is after it. */
export interface PendingTurn {
  readonly session: Session;
  readonly record: TurnHistory;
}

/** Holds what waits for the database, for the case that this process does not live to keep it. */
export interface TurnSpool {
  /** In the order of a session's turns. */
  put(turn: PendingTurn): Promise<void>;
  /** All of a session's turns are kept. */
  drop(instanceId: string): Promise<void>;
  /** What former lives left, by sessions. */
  readPending(): Promise<readonly (readonly PendingTurn[])[]>;
}

export interface WriteBehindDeps {
  readonly sessions: SessionStore;
  readonly spool: TurnSpool;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

export interface WriteBehind extends SessionStore {
  /** Begins to keep what former lives left. */
  start(): Promise<void>;
  /** A talk is over; what still waits of it is kept all the same. */
  forget(projectId: string, sessionId: string): void;
  /** Waits for what is being kept, once; what cannot be stays in the spool. Idempotent. */
  close(): Promise<void>;
}

type Waiting =
  | ({ readonly kind: 'turn' } & PendingTurn)
  | { readonly kind: 'end'; readonly ending: Parameters<SessionStore['end']>[2] };

interface Talk {
  newest: Session;
  readonly waiting: Waiting[];
  keeping: Promise<void> | undefined;
}

/**
 * The sessions of talks on this node, each of which has its session to itself: what it is now is known without the
 * database. While that one is away, or too slow for somebody who listens, a talk goes on from memory; its turns wait
 * there and in the spool, and are kept in their order when the database is back, be the session live then or ended.
 */
export function createWriteBehind({ sessions, spool, clock, onError }: WriteBehindDeps): WriteBehind {
  const talks = new Map<string, Talk>();
  let isClosed = false;

  const know = (session: Session): Talk => {
    const key = keyOf(session.projectId, session.sessionId);
    const talk = talks.get(key);
    // The id of a session that is over may be used again, while turns of the former one still wait.
    if (talk && talk.newest.instanceId === session.instanceId) {
      talk.newest = session;
      return talk;
    }
    const begun: Talk = { newest: session, waiting: [], keeping: undefined };
    talks.set(key, begun);
    return begun;
  };
  const orUnavailable = <Result>(work: Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimer(() => reject(unavailable('database')), LONGEST_WAIT_MS);
      work.then(resolve, reject).finally(() => timer.cancel());
    });

  const keepFirst = async ({ newest, waiting }: Talk): Promise<void> => {
    const [first] = waiting;
    if (first?.kind === 'turn') await keepTurn(sessions, first);
    else if (first) await sessions.end(newest.projectId, newest.sessionId, first.ending);
  };
  const keepWaiting = async (talk: Talk): Promise<void> => {
    while (talk.waiting.length > 0) {
      try {
        await orUnavailable(keepFirst(talk));
      } catch (error) {
        if (isUnavailable(error)) {
          if (isClosed) return;
          await new Promise<void>((resolve) => clock.setTimer(resolve, RETRY_MS));
          continue;
        }
        onError(error, 'a turn that waited for the database was not kept');
      }
      talk.waiting.shift();
    }
  };
  const keepAll = async (talk: Talk): Promise<void> => {
    try {
      // Something may come to wait while the last one is being kept, and the spool emptied.
      while (talk.waiting.length > 0) {
        await keepWaiting(talk);
        if (isClosed && talk.waiting.length > 0) return;
        if (talk.waiting.length > 0) continue;
        await spool.drop(talk.newest.instanceId).catch((error: unknown) => {
          onError(error, 'the spool of a session’s turns stays');
        });
      }
    } finally {
      // At once: what comes to wait from here on begins anew.
      talk.keeping = undefined;
    }
  };
  const keepLater = (talk: Talk, waiting: Waiting): void => {
    talk.waiting.push(waiting);
    talk.keeping ??= keepAll(talk);
  };
  const spooled = async (turn: PendingTurn): Promise<void> => {
    await spool.put(turn).catch((error: unknown) => onError(error, 'a turn waits in memory alone'));
  };

  return {
    ...sessions,
    async insert(session, started) {
      await sessions.insert(session, started);
      know(session);
    },
    async find(projectId, sessionId) {
      const key = keyOf(projectId, sessionId);
      const before = talks.get(key)?.newest;
      if (talks.get(key)?.keeping) return before;
      try {
        const found = await orUnavailable(sessions.find(projectId, sessionId));
        // A turn may have been taken while this was read.
        const talk = talks.get(key);
        if (talk?.keeping) return talk.newest;
        if (found && talk?.newest === before) know(found);
        return found;
      } catch (error) {
        const talk = talks.get(key);
        if (talk && isUnavailable(error)) return talk.newest;
        throw error;
      }
    },
    async saveTurn(session, record) {
      const talk = know(session);
      if (!talk.keeping) {
        try {
          await orUnavailable(sessions.saveTurn(session, record));
          return;
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          onError(error, 'a turn waits for the database');
        }
      }
      await spooled({ session, record });
      keepLater(talk, { kind: 'turn', session, record });
    },
    async end(projectId, sessionId, ending) {
      const talk = talks.get(keyOf(projectId, sessionId));
      if (!talk?.keeping) {
        try {
          return await orUnavailable(sessions.end(projectId, sessionId, ending));
        } catch (error) {
          if (!talk || !isUnavailable(error)) throw error;
        }
      }
      keepLater(talk, { kind: 'end', ending });
      return talk.newest;
    },
    async start() {
      for (const turns of await spool.readPending()) {
        for (const { session, record } of turns) keepLater(know(session), { kind: 'turn', session, record });
      }
    },
    forget(projectId, sessionId) {
      const key = keyOf(projectId, sessionId);
      const talk = talks.get(key);
      const drop = () => {
        if (talks.get(key) === talk) talks.delete(key);
      };
      if (talk?.keeping) void talk.keeping.then(drop);
      else drop();
    },
    async close() {
      isClosed = true;
      await Promise.all([...talks.values()].map(({ keeping }) => keeping));
    },
  };
}

/** A turn is refused where an attempt before has kept it, its answer lost, and where its session is over. */
async function keepTurn(sessions: SessionStore, { session, record }: PendingTurn): Promise<void> {
  try {
    await sessions.saveTurn(session, record);
  } catch (error) {
    const now = await keepLateTurn(sessions, session, record, error);
    if (now && now.turn < session.turn) throw error;
  }
}

function keyOf(projectId: string, sessionId: string): string {
  return `${projectId} ${sessionId}`;
}
