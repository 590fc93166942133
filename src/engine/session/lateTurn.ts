import { CallwayError } from '../../base/errors.ts';
import type { Session } from './session.ts';
import type { SessionStore, TurnHistory } from './sessionStore.ts';

export type TurnStore = Pick<SessionStore, 'saveTurn' | 'find' | 'appendLateTurn'>;

/**
 * Adds a turn that {@link SessionStore.saveTurn} rejected to the history, where its session has ended meanwhile: it was
 * said all the same.
 *
 * @param rejection - What `saveTurn` threw.
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
