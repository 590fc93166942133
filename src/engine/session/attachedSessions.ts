import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { CallFacts, NewSession, Session } from './session.ts';
import { bestEffortLock, type HeldLock, type SessionLock } from './sessionLock.ts';
import type { TurnStore } from './sessionStore.ts';
import type { WriteBehind } from './writeBehind.ts';

export interface AttachedSessionsDeps {
  readonly sessions: TurnStore;
  /** The store of sessions that are attached to an audio stream. */
  readonly attachedSessions: WriteBehind;
  readonly lock: SessionLock;
  readonly clock: Clock;
}

/** A session as the last turn left it. */
export interface UpToDateSession {
  /** The session; undefined where there is none. */
  readonly session: Session | undefined;
  /** Aborted when the lock is lost, or the session turns out to have ended before the turn. */
  readonly lost: AbortSignal;
}

interface Attached {
  readonly call: CallFacts | undefined;
  /** Whether no turn was run on it before. */
  isNew: boolean;
}

/** Knows which sessions are on an audio stream of this node: these stay available while the database or the lock is not. */
export class AttachedSessions {
  readonly #deps: AttachedSessionsDeps;
  readonly #lock: SessionLock;
  readonly #attached = new Map<string, Attached>();

  constructor(deps: AttachedSessionsDeps) {
    this.#deps = deps;
    this.#lock = bestEffortLock(deps.lock, deps.clock);
  }

  /** @see ConversationEngine.attach */
  async attach(
    projectId: string,
    sessionId: string,
    started: Session | undefined,
    call: CallFacts | undefined,
  ): Promise<Session | undefined> {
    const { attachedSessions } = this.#deps;
    this.#attached.set(keyOf(projectId, sessionId), { call, isNew: started !== undefined });
    if (started) {
      attachedSessions.hold(started);
      return started;
    }
    try {
      return await attachedSessions.find(projectId, sessionId);
    } catch (error) {
      this.detach(projectId, sessionId);
      throw error;
    }
  }

  detach(projectId: string, sessionId: string): void {
    this.#attached.delete(keyOf(projectId, sessionId));
    this.#deps.attachedSessions.forget(projectId, sessionId);
  }

  access(projectId: string, sessionId: string): { sessions: TurnStore; lock: SessionLock } {
    const { sessions, lock, attachedSessions } = this.#deps;
    const isAttached = this.#attached.has(keyOf(projectId, sessionId));
    return isAttached ? { sessions: attachedSessions, lock: this.#lock } : { sessions, lock };
  }

  /** The call of an attached session, where its stream brought it along. */
  callOf({ projectId, sessionId }: Session): CallFacts | undefined {
    return this.#attached.get(keyOf(projectId, sessionId))?.call;
  }

  /**
   * Whether this node holds the session of a call, which need not be read before {@link upToDate} asks for it: where it has
   * ended, the call is hung up.
   */
  holdsCall(projectId: string, sessionId: string): boolean {
    const isAttached = this.#attached.has(keyOf(projectId, sessionId));
    const held = isAttached ? this.#deps.attachedSessions.peek(projectId, sessionId) : undefined;
    return typeof held?.callId === 'string';
  }

  /**
   * The session as the last turn left it. Where no other node can have run a turn since this one knows it, the database is
   * not waited for: a caller would hear it.
   *
   * @param reading - Began with the request for the lock; undefined for a new session, and where {@link holdsCall}.
   */
  async upToDate(
    { projectId, sessionId, isNew = false }: NewSession,
    { lost, wasContended, wasOwn = false }: HeldLock,
    reading: Promise<Session | undefined> | undefined,
  ): Promise<UpToDateSession> {
    const attached = this.#attached.get(keyOf(projectId, sessionId));
    const isKnown = attached && (wasOwn || (attached.isNew && !wasContended));
    if (attached) attached.isNew = false;
    const known = isKnown ? this.#deps.attachedSessions.peek(projectId, sessionId) : undefined;
    // The lock of an attached session is never lost.
    if (known) return { session: known, lost: abortedOnceEnded(known, reading) };
    const { sessions } = this.access(projectId, sessionId);
    const isStale = !reading || (wasContended && !isKnown);
    const session = await (isStale && !isNew ? sessions.find(projectId, sessionId) : reading);
    return { session, lost };
  }
}

function abortedOnceEnded(
  { instanceId }: Session,
  reading: Promise<Session | undefined> | undefined,
): AbortSignal {
  const ended = new AbortController();
  reading?.then(
    (found) => {
      if (found?.instanceId !== instanceId)
        ended.abort(new CallwayError('gone', 'session_ended', 'The session has ended'));
    },
    () => {}, // the turn goes on without the database
  );
  return ended.signal;
}

const keyOf = (projectId: string, sessionId: string) => `${projectId} ${sessionId}`;
