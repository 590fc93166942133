import type { AgentConfig } from '../agents/agentConfig.ts';
import type { AgentRelease } from '../agents/releases/release.ts';
import type { ClientConversation } from './history/clientConversation.ts';
import type {
  CallFacts,
  EndReason,
  HistoryEvent,
  IdleSession,
  NewSession,
  Session,
} from './session/session.ts';
import type { TurnRequest, TurnSink } from './turn/turn.ts';

/** A session that is ready to insert, with the first event of its history. */
export interface PreparedSession {
  readonly session: Session;
  readonly started: HistoryEvent;
  /** The agent of its release. */
  readonly agent: AgentConfig;
}

/** The session of a call that is about to be dialed or answered. */
export interface StartingSession {
  readonly projectId: string;
  readonly sessionId: string;
  readonly call: CallFacts;
  readonly traceparent?: string | undefined;
}

/** Makes the turn's request from the session as it is once the turn holds the session's lock. */
export type BuildTurnRequest = (session: Session) => TurnRequest | Promise<TurnRequest>;

/** Runs conversations from session start to session end, for the HTTP API and for voice sessions alike. */
export interface ConversationEngine {
  /**
   * Prepares a session on the project's current release without storing it. The caller inserts it in its own
   * transaction, together with the call or with the idempotent response.
   */
  prepare(session: NewSession): Promise<PreparedSession>;
  /** Prepares a stored session that has had no turn anew, on the release of now. It is counted already. */
  prepareAgain(session: NewSession): Promise<PreparedSession>;
  /** @throws {CallwayError} 400 `session_id_in_use` */
  create(session: NewSession): Promise<Session>;
  /**
   * Asks the agent's `beforeStartConfig` and finds the customer's memory before the call is dialed or answered, so that
   * the first turn need not; once for each session.
   *
   * @returns The session as it is now; undefined where it has ended.
   * @throws The signal's reason.
   */
  start(session: StartingSession, signal: AbortSignal): Promise<Session | undefined>;
  /** Finds a session with its newest messages. */
  find(projectId: string, sessionId: string): Promise<Session | undefined>;
  withAllMessages(session: Session): Promise<Session>;
  /**
   * Finds the session that a client continues which names none. It may go on meanwhile.
   *
   * @param except - Ids of sessions that had gone on.
   * @returns The session's id.
   */
  findContinued(
    projectId: string,
    conversation: ClientConversation,
    except: readonly string[],
  ): Promise<string | undefined>;
  releaseOf(session: Session): Promise<AgentRelease>;
  /** The release was read elsewhere, for a stream that this node serves. */
  knowRelease(session: Session, release: AgentRelease): void;
  /**
   * Loads a session for an audio stream of this node. Until {@link detach} its turns run on while the database or the
   * lock service is unavailable, and are stored later.
   *
   * @param started - The session as another part of the service has just read it, before its first turn.
   * @param call - The session's call as it is now.
   */
  attach(
    projectId: string,
    sessionId: string,
    started?: Session,
    call?: CallFacts,
  ): Promise<Session | undefined>;
  /** Idempotent. */
  detach(projectId: string, sessionId: string): void;
  /**
   * Runs one turn of a session, and creates the session where there is none. Turns of one session run one at a time
   * across all nodes.
   *
   * @param sink - Receives the answer while it is written.
   * @param signal - Aborts the model's request at once. What was said until then is stored.
   * @returns A promise that resolves once the turn is stored and the session is free for the next one.
   * @throws {CallwayError} 409 `session_busy`, 500 `model_unavailable`, or what `buildRequest` throws.
   * @throws The signal's reason.
   */
  runTurn(
    session: NewSession,
    buildRequest: BuildTurnRequest,
    sink: TurnSink,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Takes words of a call whose session has ended before any turn had them: a wish for no more calls counts all the same.
   *
   * @param session - The session as its last turn had it.
   */
  heardAfterEnd(session: Session, words: readonly string[]): Promise<void>;
  /** @returns Whether a live session was ended. */
  end(projectId: string, sessionId: string, reason: EndReason): Promise<boolean>;
  /**
   * Ends an idle session, unless a turn was run since it was found. Waits for a turn that is running.
   *
   * @returns Whether the session was ended.
   * @throws {CallwayError} 409 `session_busy` when a running turn takes too long.
   */
  endIdle(found: IdleSession): Promise<boolean>;
}
