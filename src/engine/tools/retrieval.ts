import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Clock } from '../../base/values/clock.ts';
import { CONTEXT_BUDGET_TOKENS, estimateTokens } from '../history/contextWindow.ts';
import type { Render } from '../prompt/prompts.ts';
import type { CurrentNode } from '../turn/delivery.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import { type KnowledgePassage, type Passage, type RetrievalOptions, shownPassage } from './knowledge.ts';

/** The share of the context that passages may take, beside the conversation. */
export const KNOWLEDGE_BUDGET_TOKENS = CONTEXT_BUDGET_TOKENS * 0.375;

/** A slower search is given up: the customer waits for an answer. */
const SEARCH_TIMEOUT_MS = 4_000;

/** The built-in tool for retrieval. */
const KNOWLEDGE_TOOL = 'query_knowledgebase';

export interface RetrievalQuery {
  readonly query: string;
  readonly options: RetrievalOptions;
}

/** Retrieves passages from the project's documents and records their use. A failed search yields none. */
export async function retrieve(
  { deps, journal, session, signal }: TurnContext,
  { query, options }: RetrievalQuery,
): Promise<readonly Passage[]> {
  const { knowledge, clock } = deps;
  if (!knowledge || query.trim() === '') return [];
  const beganMs = clock.monotonicMs();
  try {
    const found = await withDeadline(clock, knowledge.search(session.projectId, query, options, signal));
    const used = withinBudget(found);
    const chunks = used.map(({ content: _content, ...where }) => where);
    journal.event('knowledge_used', { query, chunks, durationMs: Math.round(clock.monotonicMs() - beganMs) });
    return used;
  } catch (error) {
    if (signal.aborted) throw error;
    const message = error instanceof Error ? error.message : '';
    journal.event('error', { code: 'knowledge_failed', message });
    return [];
  }
}

/** The query of a knowledge node for the customer's words. */
export function queryOf(
  { data }: Extract<PathwayNode, { type: 'knowledge' }>,
  words: string,
  render: Render,
): RetrievalQuery {
  const { query, topK, scoreThreshold } = data;
  return {
    query: query === undefined ? words : render(query),
    options: {
      topK,
      scoreThreshold,
    },
  };
}

/**
 * Lets a channel start the retrieval for the next answer while the customer still speaks.
 *
 * @returns The prefetch; undefined where neither the node nor the ones after it use documents.
 */
export function prefetchRetrievalAt(turn: TurnContext, node: PathwayNode): CurrentNode['prefetchRetrieval'] {
  const { deps, graph, session, render } = turn;
  const { knowledge } = deps;
  if (!knowledge?.prefetch) return undefined;
  const next = graph.leaving(node.id).map(({ target }) => graph.node(target));
  const user = [node, ...next].find(
    (one) => one?.type === 'knowledge' || one?.data.tools.includes(KNOWLEDGE_TOOL),
  );
  if (!user) return undefined;
  return async (words) => {
    const { query, options } =
      user.type === 'knowledge' ? queryOf(user, words, render) : { query: words, options: {} };
    await knowledge.prefetch?.(session.projectId, query, options);
  };
}

/** @throws {Error} When it takes too long. */
function withDeadline<Result>(clock: Clock, searching: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = new Error(`The documents were not searched within ${SEARCH_TIMEOUT_MS / 1000} s`);
    const timer = clock.setTimer(() => reject(late), SEARCH_TIMEOUT_MS);
    searching.then(resolve, reject).finally(() => timer.cancel());
  });
}

function withinBudget(found: readonly KnowledgePassage[]): KnowledgePassage[] {
  const used: KnowledgePassage[] = [];
  let leftTokens = KNOWLEDGE_BUDGET_TOKENS;
  for (const passage of found) {
    leftTokens -= estimateTokens(shownPassage(passage));
    // The best passage is used even when it is over budget; it is no longer than a chunk.
    if (leftTokens < 0 && used.length > 0) break;
    used.push(passage);
  }
  return used;
}
