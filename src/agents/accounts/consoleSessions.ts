/** A console session lasts a working day; it is not prolonged. */
export const CONSOLE_SESSION_MS = 12 * 3_600_000;

/** A browser's sign-in to the console: an id in a cookie stands for a credential, on all nodes. */
export interface ConsoleSessions {
  /** @param id - Secret and random: who has it, has the credential's rights. */
  start(id: string, credential: string): Promise<void>;
  /** @returns The credential; undefined once the session has ended. */
  find(id: string): Promise<string | undefined>;
  end(id: string): Promise<void>;
}
