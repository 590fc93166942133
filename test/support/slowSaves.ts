import type { SessionStore } from '../../src/engine/session/sessionStore.ts';

/** Sessions whose turns are kept when a test says so. */
export function slowSaves() {
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
    /** From now on, turns wait. */
    hold() {
      keeping = new Promise((resolve) => {
        open = resolve;
      });
    },
    /** What waits is kept. */
    letGo: () => open(),
  };
}
