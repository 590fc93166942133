import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { Session } from '../../engine/session/session.ts';
import { type Call, callFacts } from '../call.ts';

/** A call's session before its first turn. */
export interface StartedSession {
  readonly session: Session;
  /** The sealed data from the database that the voice thread needs for the agent's first words. */
  readonly readAhead: string | undefined;
}

export interface StartSessionDeps {
  readonly conversations: Pick<ConversationEngine, 'start'>;
  /** Reads the data for the agent's first words. It never rejects. */
  readonly readAhead: (
    projectId: string,
    starting: Promise<Session | undefined>,
  ) => Promise<string | undefined>;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Starts the session of a call that is not answered yet: asks the agent's `beforeStartConfig`, and reads what the first
 * words need, so that they wait for no database.
 *
 * @param canceled - Aborted when the call has ended.
 * @returns Undefined after a failure: the caller does not wait for the database, and the first turn starts the
 *   session.
 */
export async function startSession(
  { conversations, readAhead, onError }: StartSessionDeps,
  call: Call,
  canceled: AbortSignal,
): Promise<StartedSession | undefined> {
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
