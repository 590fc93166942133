import type { HistoryStore } from '../history/historyStore.ts';

/** Counts what the sessions of a project use, and stores what one of them has used beside its turns, and its cost. */
export interface UsageRecorder extends Pick<HistoryStore, 'addUsage' | 'updateCost'> {
  /** Counts a new session. @throws {CallwayError} 429 `quota_exceeded` */
  admit(projectId: string): Promise<void>;
  /** @property characters - Synthesized characters. */
  add(
    projectId: string,
    used: { readonly chats?: number; readonly tokens?: number; readonly characters?: number },
  ): void;
}
