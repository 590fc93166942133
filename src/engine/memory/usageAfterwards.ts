import { afterwards, isNone } from '../../agents/cost/usage.ts';
import type { HistoryStore } from '../history/historyStore.ts';
import type { UsageMeter } from '../turn/turnContext.ts';

export interface AfterwardsDeps {
  readonly history: Pick<HistoryStore, 'addUsage'>;
  readonly onError: (error: unknown, what: string) => void;
}

/** Adds what a model took after a session to what the session has used. Never rejects. */
export async function reportAfterwards(
  { history, onError }: AfterwardsDeps,
  { instanceId }: { readonly instanceId: string },
  { tally }: UsageMeter,
): Promise<void> {
  const used = tally.take();
  if (isNone(used)) return;
  await history
    .addUsage(instanceId, afterwards(used))
    .catch((error: unknown) => onError(error, 'usage after a session not stored'));
}
