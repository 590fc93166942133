import { CallwayError } from '../../base/errors.ts';
import type { Session } from './session.ts';
import type { SessionStore, TurnHistory } from './sessionStore.ts';

/** What a turn is kept with. */
export type TurnKeeper = Pick<SessionStore, 'saveTurn' | 'find' | 'appendLateTurn'>;

/**
 * Adds a turn that could not be kept to its session's history, where the session has ended meanwhile: it was said all
 * the same.
 *
 * @param refusal - What {@link SessionStore.saveTurn} threw.
 * @returns The session that has its id now, where it lives on and another turn of it was kept.
 * @throws The refusal, where it is another.
 */
export async function keepLateTurn(
  sessions: TurnKeeper,
  session: Session,
  record: TurnHistory,
  refusal: unknown,
): Promise<Session | undefined> {
  if (!(refusal instanceof CallwayError) || refusal.code !== 'session_changed') throw refusal;
  const now = await sessions.find(session.projectId, session.sessionId);
  if (now?.instanceId === session.instanceId) return now;
  await sessions.appendLateTurn(session, record);
  return undefined;
}
