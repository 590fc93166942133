import type { WebhookEventName } from '../../agents/agentConfig.ts';
import type { Amounts } from '../../agents/cost/usage.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Page, PageOf } from '../../base/values/page.ts';
import type { Analysis } from '../history/sessionResults.ts';
import type { OptOut } from '../tools/callbacks.ts';
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
  /** What the session used since the last turn; the state has it too. */
  readonly used?: Amounts;
  /** A number that is to be listed before the turn is stored, since the database was away. */
  readonly optOut?: OptOut | undefined;
}

/** The post-session work that becomes due when a session ends; stored in the same transaction. */
export interface SessionEnding {
  readonly at: string;
  readonly reason: EndReason;
  /** Names of the required variables without a value. */
  readonly missingVariables: readonly string[];
  /** The language of the conversation, such as `en-US`; null where nothing says. */
  readonly language: string | null;
  /** Deadline of `session.finalized`. */
  readonly finalizeBy: string;
  /** The expected webhook events in sending order; `session.finalized` is last. */
  readonly expected: readonly WebhookEventName[];
  readonly subscribed: readonly WebhookEventName[];
  /** Whether `session.finalized` waits for the evaluation or the analysis. */
  readonly evaluating: boolean;
  /** The analysis of a session whose own was not done in time; null where the agent asks for none. */
  readonly skippedAnalysis: Analysis | null;
  /** Whether webhooks, the models that judge it, or the memory read the messages; if not, a project without history keeps none. */
  readonly readsMessages: boolean;
}

/** Stores live sessions, and their history with them. */
export interface SessionStore extends TurnStore {
  /** The session's messages before those that it has; empty once it has ended. */
  messagesBefore(session: Session): Promise<readonly SessionMessage[]>;
  /**
   * Finds the chat session with one of these digests: the first of them that a session has, and of its sessions the one
   * that was active last.
   *
   * @param except - Ids of sessions to leave out.
   */
  findByDigest(
    projectId: string,
    digests: readonly string[],
    except: readonly string[],
  ): Promise<string | undefined>;
  /**
   * Case-sensitive, anywhere in the JSON of a message, or of the rest of the session's data; last changed first.
   *
   * @throws {CallwayError} 503 `search_timeout`.
   */
  search(projectId: string, text: string, page: Page): Promise<PageOf<FoundSession>>;
  /** Live chat and web sessions without traffic for longer than their project allows. */
  idle(now: Date, limit: number, after?: IdleSession): Promise<IdleSession[]>;
}

/** What turns need of a session store. */
export interface TurnStore {
  /** @throws {CallwayError} 400 `session_id_in_use` when a live session has this id. */
  insert(session: Session, started: HistoryEvent): Promise<void>;
  /** Finds a session with its newest messages. */
  find(projectId: string, sessionId: string): Promise<Session | undefined>;
  /**
   * Stores a turn: the new state, and the messages and events that it adds.
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
}

/**
 * Adds a turn that {@link SessionStore.saveTurn} rejected to the history, where its session has ended meanwhile: it was
 * said all the same.
 *
 * @param rejection - The error that `saveTurn` threw.
 * @returns The session where it is still live and another turn was stored; undefined where it has ended.
 * @throws The rejection, where it is not `session_changed`.
 */
export async function recordLateTurn(
  sessions: TurnStore,
  session: Session,
  history: TurnHistory,
  rejection: unknown,
): Promise<Session | undefined> {
  if (!(rejection instanceof CallwayError) || rejection.code !== 'session_changed') throw rejection;
  const current = await sessions.find(session.projectId, session.sessionId);
  if (current?.instanceId === session.instanceId) return current;
  await sessions.appendLateTurn(session, history);
  return undefined;
}
