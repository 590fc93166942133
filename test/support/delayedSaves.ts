import type { SessionStore } from '../../src/engine/session/sessionStore.ts';

/** A session store that stores turns when the test says so. */
export function delayedSaves() {
  let keeping: Promise<void> | undefined;
  let open = () => {};
  return {
    wrapSessions: (sessions: SessionStore): SessionStore => ({
      ...sessions,
      async saveTurn(...turn) {
        await keeping;
        await sessions.saveTurn(...turn);
      },
    }),
    /** Delays turns from now on. */
    hold() {
      keeping = new Promise((resolve) => {
        open = resolve;
      });
    },
    /** Stores the delayed turns. */
    release: () => open(),
  };
}
