import type { EndReason, HistoryEvent, IdleSession, NewSession, Session } from './session/session.ts';
import type { TurnOutput, TurnRequest } from './turn/turn.ts';

/** A session that nobody has kept yet, with the first event of its history. */
export interface PreparedSession {
  readonly session: Session;
  readonly started: HistoryEvent;
}

/** Reads the turn's request off the session as it is once the turn's time has come. */
export type BuildTurnRequest = (session: Session) => TurnRequest;

/** Talks, from their begin to their end; what the HTTP API and the voice side both stand on. */
export interface ConversationEngine {
  /**
   * Makes a session ready to begin, on the release that callers get now, and keeps nothing of it yet: for whoever keeps
   * it in a transaction of theirs, together with its call or with the answer that tells of it.
   */
  prepare(session: NewSession): Promise<PreparedSession>;
  /** @throws {CallwayError} 400 `session_id_in_use` */
  create(session: NewSession): Promise<Session>;
  find(projectId: string, sessionId: string): Promise<Session | undefined>;
  /**
   * Takes one turn of a session, which is made where there is none. Turns of one session run one at a time, on any
   * node. Leaving the loop, or the signal, stops the model at once; what was said until then is kept.
   *
   * @throws {CallwayError} 409 `session_busy`, 500 `model_unavailable`, 400 when the reader refuses.
   */
  converse(session: NewSession, read: BuildTurnRequest, signal: AbortSignal): AsyncIterable<TurnOutput>;
  /** @returns Whether there was a live session to end. */
  end(projectId: string, sessionId: string, reason: EndReason): Promise<boolean>;
  /**
   * Ends a session that is idle, unless a turn has been taken, or has begun, since it was found to be: that one is
   * waited for.
   *
   * @returns Whether it was ended.
   * @throws {CallwayError} 409 `session_busy` when a turn of it lasts too long to be waited for.
   */
  endIdle(found: IdleSession): Promise<boolean>;
}
