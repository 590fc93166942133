/** Counts what the sessions of a project use. */
export interface SessionUsage {
  /** Counts a new session. @throws {CallwayError} 429 `quota_exceeded` */
  admit(projectId: string): Promise<void>;
  /** @property characters - Synthesized characters. */
  add(
    projectId: string,
    used: { readonly chats?: number; readonly tokens?: number; readonly characters?: number },
  ): void;
}
