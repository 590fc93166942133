import type { WebhookEventName } from '../../agents/agentConfig.ts';
import type { Page, PageOf } from '../../base/page.ts';
import type { EndReason, HistoryEvent, IdleSession, Session, SessionMessage } from './session.ts';

export interface FoundSession {
  readonly sessionId: string;
  readonly data: unknown;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What a stored turn adds to the session's history. */
export interface TurnHistory {
  readonly messages: readonly SessionMessage[];
  readonly events: readonly HistoryEvent[];
}

/** The post-session work that becomes due when a session ends; stored in the same transaction. */
export interface SessionEnding {
  readonly at: string;
  readonly reason: EndReason;
  /** Deadline of `session.finalized`. */
  readonly finalizeBy: string;
  /** In sending order; `session.finalized` last. */
  readonly expected: readonly WebhookEventName[];
  readonly subscribed: readonly WebhookEventName[];
  readonly evaluating: boolean;
}

/** Stores live sessions, and their history with them. */
export interface SessionStore {
  /** @throws {CallwayError} 400 `session_id_in_use` when a live session has this id. */
  insert(session: Session, started: HistoryEvent): Promise<void>;
  find(projectId: string, sessionId: string): Promise<Session | undefined>;
  /**
   * Stores a turn: the new state, and what it adds to the history.
   *
   * @param session - The state after the turn, with `turn` incremented by one.
   * @throws {CallwayError} 409 `session_changed` when another turn was stored meanwhile, or the session has ended.
   */
  saveTurn(session: Session, history: TurnHistory): Promise<void>;
  /** Adds a turn to the history of a session that ended before the turn was stored. Idempotent. */
  appendLateTurn(session: Session, history: TurnHistory): Promise<void>;
  /**
   * Ends a session: deletes its state, closes its history and makes its webhooks due.
   *
   * @param ending - Called with the session's current state, again when a turn was stored meanwhile. Undefined leaves
   *   the session alive.
   * @returns The ended session; undefined where none is live or `ending` left it.
   */
  end(
    projectId: string,
    sessionId: string,
    ending: (session: Session) => Promise<SessionEnding | undefined>,
  ): Promise<Session | undefined>;
  /** Case-sensitive, anywhere in the JSON of the session's data; last changed first. */
  search(projectId: string, text: string, page: Page): Promise<PageOf<FoundSession>>;
  /** Live chat and web sessions without traffic for longer than their project allows. */
  idle(now: Date, limit: number): Promise<IdleSession[]>;
}
