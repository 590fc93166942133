import type { Contact } from '../../../campaigns/contact.ts';
import type { Analysis } from '../../../engine/history/sessionResults.ts';
import type { Stores } from '../../ports.ts';

/** Returns what the analysis of each contact's last call says, by contact id. */
export async function lastAnalyses(
  { history }: Stores,
  projectId: string,
  contacts: readonly Contact[],
): Promise<Map<string, Analysis | undefined>> {
  const last = contacts.flatMap(({ id, attempts }) => {
    const callId = attempts.at(-1)?.callId;
    return callId === undefined ? [] : [{ id, callId }];
  });
  const analyses = await history.analyses(
    projectId,
    last.map(({ callId }) => callId),
  );
  return new Map(last.map(({ id, callId }) => [id, analyses.get(callId)]));
}
