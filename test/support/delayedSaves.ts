import type { SessionStore } from '../../src/engine/session/sessionStore.ts';

/** Wraps a session store so that the test decides when turns are stored. */
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
    /** Delays turns that are saved from now on. */
    hold() {
      keeping = new Promise((resolve) => {
        open = resolve;
      });
    },
    /** Stores the delayed turns. */
    release: () => open(),
  };
}
