import { CONTEXT_BUDGET_TOKENS, estimateTokens } from './context.ts';
import type { TurnRun } from './turnRun.ts';

/** What of the documents goes into one answer's context at most, beside the talk. */
export const KNOWLEDGE_BUDGET_TOKENS = CONTEXT_BUDGET_TOKENS * 0.375;

/** Looks a question up in the project's documents, and notes what was used. Without documents there is nothing. */
export async function findKnowledge(
  run: TurnRun,
  query: string,
  options: { topK?: number; scoreThreshold?: number },
): Promise<string[]> {
  const { knowledge } = run.deps;
  if (!knowledge || query.trim() === '') return [];
  try {
    const found = await knowledge.search(run.session.projectId, query, options, run.signal);
    const used: (typeof found)[number][] = [];
    let left = KNOWLEDGE_BUDGET_TOKENS;
    for (const passage of found) {
      left -= estimateTokens(passage.content);
      // One alone is no longer than a chunk may be; the best is better than nothing.
      if (left < 0 && used.length > 0) break;
      used.push(passage);
    }
    const chunks = used.map(({ content: _content, ...where }) => where);
    run.journal.event('knowledge_used', { query, chunks });
    return used.map(({ content }) => content);
  } catch (error) {
    if (run.signal.aborted) throw error;
    run.journal.event('error', {
      code: 'knowledge_failed',
      message: error instanceof Error ? error.message : '',
    });
    return [];
  }
}
