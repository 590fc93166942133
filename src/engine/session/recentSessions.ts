import type { Clock } from '../../base/clock.ts';
import type { Session } from './session.ts';

/** Longer than most people think about an answer. */
const KEPT_MILLISECONDS = 10 * 60_000;
/** Of all of them together, as JSON: so much memory is well spent on a turn's first word. */
const MOST_CHARACTERS = 32 * 1_048_576;

/**
 * Sessions as this node's last turns left them. Somebody else may have gone on with one since: it is a guess at what the
 * session is, to be held against the session itself.
 */
export interface RecentSessions {
  find(projectId: string, sessionId: string): Session | undefined;
  keep(session: Session): void;
  forget(projectId: string, sessionId: string): void;
}

interface Entry {
  readonly session: Session;
  readonly characters: number;
  readonly untilMs: number;
}

/** @param mostCharacters - The oldest go beyond this. */
export function createRecentSessions(clock: Clock, mostCharacters: number = MOST_CHARACTERS): RecentSessions {
  // A map keeps its keys in the order of their insertion, which is that of the sessions' age.
  const entries = new Map<string, Entry>();
  let characters = 0;

  const remove = (key: string) => {
    characters -= entries.get(key)?.characters ?? 0;
    entries.delete(key);
  };
  const dropOld = () => {
    const nowMs = clock.monotonicMs();
    for (const [key, { untilMs }] of entries) {
      if (untilMs > nowMs && characters <= mostCharacters) return;
      remove(key);
    }
  };

  return {
    find(projectId, sessionId) {
      dropOld();
      return entries.get(keyOf(projectId, sessionId))?.session;
    },
    keep(session) {
      const key = keyOf(session.projectId, session.sessionId);
      remove(key);
      const size = JSON.stringify(session.state).length;
      entries.set(key, { session, characters: size, untilMs: clock.monotonicMs() + KEPT_MILLISECONDS });
      characters += size;
      dropOld();
    },
    forget: (projectId, sessionId) => remove(keyOf(projectId, sessionId)),
  };
}

const keyOf = (projectId: string, sessionId: string) => `${projectId} ${sessionId}`;
