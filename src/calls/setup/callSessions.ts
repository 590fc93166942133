import type { TransferTargetInput } from '../../agents/transferTarget.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import {
  CHECKPOINT_STALE_MS,
  type RecoveryDeps,
  recoverInterruptedTurn,
} from '../../engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../../engine/session/releases.ts';
import type { NewSession, Session } from '../../engine/session/session.ts';
import { type Call, callFacts } from '../call.ts';

/** A session before its first turn. */
export interface StartedSession {
  readonly session: Session;
  /** The sealed data from the database that the voice thread needs for the agent's first words. */
  readonly readAhead: string | undefined;
}

/** Reads the data for the agent's first words. It never rejects. */
export type ReadAhead = (
  projectId: string,
  starting: Promise<Session | undefined>,
) => Promise<string | undefined>;

export interface CallSessionsDeps {
  readonly conversations: ConversationEngine;
  readonly releases: ReleaseStore;
  readonly recovery: RecoveryDeps;
  readonly readAhead: ReadAhead;
  readonly onError: (error: unknown, what: string) => void;
}

/** The sessions of calls and audio streams, from before the first words to the end. */
export class CallSessions {
  readonly #deps: CallSessionsDeps;

  constructor(deps: CallSessionsDeps) {
    this.#deps = deps;
  }

  /**
   * Starts the session of a call that is not answered yet: asks the agent's `beforeStartConfig`, and reads what the first
   * words need, so that they wait for no database.
   *
   * @param canceled - Aborted when the call has ended.
   * @returns Undefined after a failure: the caller does not wait for the database, and the first turn starts the
   *   session.
   */
  async start(call: Call, canceled: AbortSignal): Promise<StartedSession | undefined> {
    const { conversations, readAhead, onError } = this.#deps;
    const { projectId, sessionId, settings } = call;
    const { traceparent } = settings;
    const starting = conversations.start(
      { projectId, sessionId, call: callFacts(call), traceparent },
      canceled,
    );
    try {
      const [session, read] = await Promise.all([starting, readAhead(projectId, starting)]);
      return session && { session, readAhead: read };
    } catch (error) {
      if (!canceled.aborted) onError(error, 'session of a call not started before its answer');
      return undefined;
    }
  }

  /** Creates the session of an audio stream without a call. @throws {CallwayError} 400 `session_id_in_use` */
  async create(wanted: NewSession): Promise<StartedSession> {
    const { conversations, readAhead } = this.#deps;
    const creating = conversations.create(wanted);
    const [session, read] = await Promise.all([creating, readAhead(wanted.projectId, creating)]);
    return { session, readAhead: read };
  }

  async exists(projectId: string, sessionId: string): Promise<boolean> {
    return (await this.#deps.conversations.find(projectId, sessionId)) !== undefined;
  }

  /** Returns the session's variables as they are now. */
  async variables({ projectId, sessionId, settings }: Call): Promise<Readonly<Record<string, unknown>>> {
    const session = await this.#deps.conversations.find(projectId, sessionId);
    return session?.state.variables ?? settings.dynamicVariables ?? {};
  }

  /** Returns the transfer targets of the release that the session runs on; null allows all targets. */
  async transferTargets({ projectId, sessionId }: Call): Promise<readonly TransferTargetInput[] | null> {
    const { conversations, releases } = this.#deps;
    const session = await conversations.find(projectId, sessionId);
    const release = session && (await releases.find(projectId, session.releaseId));
    return release?.agent.transferTargets ?? null;
  }

  /** Ends the session of a call that has ended, with what was said in a turn whose node failed. Idempotent. */
  async end({ projectId, sessionId, instanceId }: Call): Promise<void> {
    const { conversations, recovery, onError } = this.#deps;
    const session = await conversations.find(projectId, sessionId);
    // The session id may have been used again.
    if (session?.instanceId !== instanceId) return;
    await recoverInterruptedTurn(recovery, projectId, sessionId, CHECKPOINT_STALE_MS).catch(
      (error: unknown) => onError(error, 'interrupted turn not recovered'),
    );
    await conversations.end(projectId, sessionId, 'call_ended');
  }
}
