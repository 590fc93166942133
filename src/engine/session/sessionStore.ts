import type { WebhookEventName } from '../../agents/agentConfig.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { Page, PageOf } from '../../base/page.ts';
import type { Channel, EndReason, HistoryEvent, IdleSession, Session, SessionMessage } from './session.ts';

/** Keeps releases that sessions run on; equal ones once. */
export interface ReleaseStore {
  /** @returns Its id, which is the same for the same content. */
  keep(projectId: string, release: AgentRelease): Promise<string>;
  find(projectId: string, releaseId: string): Promise<AgentRelease | undefined>;
  /**
   * Changes whenever anything changes that callers of a project get: its agent, its pathway, its tools.
   *
   * @returns Undefined where there is no such project, or that cannot be told.
   */
  stampOf(projectId: string): Promise<string | undefined>;
  /** Removes those that no live session and no unfinished webhook needs. */
  removeUnused(): Promise<void>;
}

export interface FoundSession {
  readonly sessionId: string;
  readonly data: unknown;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What a kept turn adds to the history. */
export interface TurnHistory {
  readonly messages: readonly SessionMessage[];
  readonly events: readonly HistoryEvent[];
}

/** What is due when a session ends; written in the same transaction. */
export interface SessionEnding {
  readonly at: string;
  readonly reason: EndReason;
  /** When session.finalized is due at the latest. */
  readonly finalizeBy: string;
  /** In order of sending; session.finalized last. */
  readonly expected: readonly WebhookEventName[];
  readonly subscribed: readonly WebhookEventName[];
  readonly evaluating: boolean;
}

/** Keeps live sessions, and with each of them what its history needs. */
export interface SessionStore {
  /** @throws {CallwayError} 400 `session_id_in_use` when a live session has this id. */
  insert(session: Session, started: HistoryEvent): Promise<void>;
  find(projectId: string, sessionId: string): Promise<Session | undefined>;
  /**
   * Keeps a turn: the new state, and what it adds to the history.
   *
   * @param session - As it is after the turn, with `turn` counted up by one.
   * @throws {CallwayError} 409 `session_changed` when another turn was kept meanwhile, or the session has ended.
   */
  saveTurn(session: Session, record: TurnHistory): Promise<void>;
  /** Adds a turn to the history of a session that has ended before it could be kept; one that stands there is left. */
  appendLateTurn(session: Session, record: TurnHistory): Promise<void>;
  /**
   * Ends a session: its state goes for good, its history is closed, its webhooks are due.
   *
   * @param ending - What is due for the session as it is; undefined leaves it. Asked anew when a turn was kept meanwhile.
   * @returns The session as it was; undefined where none is live, or it was left.
   */
  end(
    projectId: string,
    sessionId: string,
    ending: (session: Session) => Promise<SessionEnding | undefined>,
  ): Promise<Session | undefined>;
  /** Case-sensitive, anywhere in the JSON of the session's data; last changed first. */
  search(projectId: string, text: string, page: Page): Promise<PageOf<FoundSession>>;
  /** Live sessions without traffic for longer than their project allows; chat and web only. */
  idle(now: Date, limit: number): Promise<IdleSession[]>;
}

export interface HistoryFilter {
  readonly channel?: Channel;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
  /** Found in the messages. */
  readonly q?: string;
}

export interface HistorySummary {
  readonly sessionId: string;
  readonly channel: Channel;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  readonly messageCount: number;
  readonly callId?: string;
}

export interface HistoryDetail extends Omit<HistorySummary, 'messageCount' | 'durationMs'> {
  readonly variables: unknown;
  readonly messages: readonly SessionMessage[];
  readonly events: readonly HistoryEvent[];
  readonly evaluation?: unknown;
}

export interface HistoryStats {
  readonly total: number;
  readonly byChannel: Readonly<Record<string, number>>;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly byDay: readonly { readonly day: string; readonly sessions: number }[];
  readonly durationMs: { readonly mean: number | null; readonly p95: number | null };
  readonly turns: number;
  readonly turnLatencyMs: { readonly p50: number | null; readonly p95: number | null };
  /** Of the same sessions, as far as they are over. */
  readonly calls: {
    readonly total: number;
    readonly answered: number;
    /** 0 to 1; null where there were none. */
    readonly answerRate: number | null;
    readonly turnLatencyMs: { readonly p50: number | null; readonly p95: number | null };
  };
}

/** Reads what sessions leave behind; nothing is shown of a project that keeps none. */
export interface HistoryStore {
  list(projectId: string, filter: HistoryFilter, page: Page): Promise<PageOf<HistorySummary>>;
  /** The latest life of this session id. */
  find(projectId: string, sessionId: string): Promise<HistoryDetail | undefined>;
  stats(projectId: string, range: { from?: string; to?: string }): Promise<HistoryStats>;
  /** Adds to the history of a session that may have ended. */
  addEvents(instanceId: string, events: readonly HistoryEvent[]): Promise<void>;
  /** Adds messages after all others, likewise. */
  addMessages(instanceId: string, messages: readonly SessionMessage[]): Promise<void>;
  /** Removes what is older than its project keeps, rows and all. @returns How many sessions went. */
  purge(now: Date): Promise<number>;
}

/** What is known of customers, over sessions. */
export interface MemoryStore {
  find(projectId: string, customer: string): Promise<string | undefined>;
  keep(projectId: string, customer: string, text: string): Promise<void>;
}

/** What a turn knows by the lock that it holds. */
export interface HeldLock {
  /** Aborted if the lock is lost. */
  readonly lost: AbortSignal;
  /**
   * Whether a state that bears this mark, and was read after the lock was asked for, is what the last holder left. Tells
   * no where that is not known. What does not ask for the lock at all, such as a session's end by the API, is not seen.
   */
  isNewest(mark: string): boolean;
  /** Whether this is the mark that the last holder left; tells no also where that is forgotten. */
  isLeft(mark: string): boolean;
  /** Tells the next holder the mark of the state as it is now; without it, that one has to look. */
  leave(mark: string): void;
  /** Lets the next one have the lock; idempotent. */
  release(): Promise<void>;
}

/** Lets one turn of a session run at a time, on any node. */
export interface SessionLock {
  /**
   * Waits for its turn.
   *
   * @returns What is to be released.
   * @throws {CallwayError} 409 `session_busy` after the longest wait; 503 when Redis is away.
   */
  acquire(projectId: string, sessionId: string): Promise<HeldLock>;
  /** Waits for its turn, runs `work`, and releases. @throws As `acquire`. */
  run<Result>(
    projectId: string,
    sessionId: string,
    work: (held: HeldLock) => Promise<Result>,
  ): Promise<Result>;
}
