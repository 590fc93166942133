import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/clock.ts';
import type { CallFacts, NewSession, Session } from './session.ts';
import { bestEffortLock, type HeldLock, type SessionLock } from './sessionLock.ts';
import type { TurnStore } from './sessionStore.ts';
import type { WriteBehind } from './writeBehind.ts';

/** A caller does not wait longer for the database to confirm what this node knows of their session. */
const CONFIRMATION_MS = 30;

export interface AttachedSessionsDeps {
  readonly sessions: TurnStore;
  readonly attachedSessions: WriteBehind;
  readonly lock: SessionLock;
  readonly clock: Clock;
}

interface Attached {
  readonly call: CallFacts | undefined;
  /** No turn was run on it before. */
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
   * The session as the last turn left it. Where no other node can have run a turn since this one knows it, a slow database
   * is not waited for.
   *
   * @param reading - Began with the request for the lock.
   */
  async upToDate(
    { projectId, sessionId, isNew = false }: NewSession,
    { wasContended, wasOwn = false }: HeldLock,
    reading: Promise<Session | undefined>,
  ): Promise<Session | undefined> {
    const { clock, attachedSessions } = this.#deps;
    const attached = this.#attached.get(keyOf(projectId, sessionId));
    const isKnown = attached && (wasOwn || (attached.isNew && !wasContended));
    if (attached) attached.isNew = false;
    if (isKnown) {
      await withTimeout(clock, reading, CONFIRMATION_MS);
      return attachedSessions.peek(projectId, sessionId) ?? (await reading);
    }
    const { sessions } = this.access(projectId, sessionId);
    return await (wasContended && !isNew ? sessions.find(projectId, sessionId) : reading);
  }
}

const keyOf = (projectId: string, sessionId: string) => `${projectId} ${sessionId}`;
