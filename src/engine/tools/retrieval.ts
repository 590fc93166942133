import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Clock } from '../../base/clock.ts';
import { CONTEXT_BUDGET_TOKENS, estimateTokens } from '../history/contextWindow.ts';
import type { Render } from '../prompt/prompts.ts';
import type { CurrentNode } from '../turn/delivery.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import { type Passage, shownPassage } from './passage.ts';
import type { KnowledgePassage } from './toolRunner.ts';

/** What of the documents goes into one answer's context at most, beside the talk. */
export const KNOWLEDGE_BUDGET_TOKENS = CONTEXT_BUDGET_TOKENS * 0.375;

/** So long a turn waits for the documents: a customer waits for words, and without them there are words too. */
const SEARCH_PATIENCE_MS = 4_000;

/** The built-in tool by which a model asks the documents. */
export const KNOWLEDGE_TOOL = 'query_knowledgebase';

/** What the documents are asked, and how. */
export interface KnowledgeQuestion {
  readonly query: string;
  readonly options: { readonly topK?: number; readonly scoreThreshold?: number };
}

/** Looks a question up in the project's documents, and notes what was used. Without documents there is nothing. */
export async function findKnowledge(
  run: TurnContext,
  { query, options }: KnowledgeQuestion,
): Promise<readonly Passage[]> {
  const { knowledge, clock } = run.deps;
  if (!knowledge || query.trim() === '') return [];
  const askedMs = clock.monotonicMs();
  try {
    const searching = knowledge.search(run.session.projectId, query, options, run.signal);
    const found = await inTime(clock, searching);
    const used = withinBudget(found);
    const chunks = used.map(({ content: _content, ...where }) => where);
    run.journal.event('knowledge_used', {
      query,
      chunks,
      durationMs: Math.round(clock.monotonicMs() - askedMs),
    });
    return used;
  } catch (error) {
    if (run.signal.aborted) throw error;
    run.journal.event('error', {
      code: 'knowledge_failed',
      message: error instanceof Error ? error.message : '',
    });
    return [];
  }
}

/** What a knowledge node asks of the documents, once the customer has said these words. */
export function questionAt(
  { data }: Extract<PathwayNode, { type: 'knowledge' }>,
  words: string,
  render: Render,
): KnowledgeQuestion {
  const { query, topK, scoreThreshold } = data;
  return {
    query: query === undefined ? words : render(query),
    options: {
      ...(topK === undefined ? {} : { topK }),
      ...(scoreThreshold === undefined ? {} : { scoreThreshold }),
    },
  };
}

/**
 * Lets a channel begin the search that the next answer may need, while the customer still speaks.
 *
 * @returns `undefined` where nothing near the node asks the documents.
 */
export function prefetchRetrievalAt(run: TurnContext, node: PathwayNode): CurrentNode['prefetchRetrieval'] {
  const { deps, graph, session, render } = run;
  const { knowledge } = deps;
  if (!knowledge?.prefetch) return undefined;
  const next = graph.outgoing(node.id).map(({ target }) => graph.node(target));
  const asking = [node, ...next].find(
    (one) => one?.type === 'knowledge' || one?.data.tools.includes(KNOWLEDGE_TOOL),
  );
  if (!asking) return undefined;
  return async (words) => {
    const question =
      asking.type === 'knowledge' ? questionAt(asking, words, render) : { query: words, options: {} };
    await knowledge.prefetch?.(session.projectId, question.query, question.options);
  };
}

/** @throws {Error} When it takes too long; what comes later is not heard. */
function inTime<Result>(clock: Clock, searching: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = new Error(`The documents were not searched within ${SEARCH_PATIENCE_MS / 1000} s`);
    const timer = clock.setTimer(() => reject(late), SEARCH_PATIENCE_MS);
    searching.then(resolve, reject).finally(() => timer.cancel());
  });
}

function withinBudget(found: readonly KnowledgePassage[]): KnowledgePassage[] {
  const used: KnowledgePassage[] = [];
  let left = KNOWLEDGE_BUDGET_TOKENS;
  for (const passage of found) {
    left -= estimateTokens(shownPassage(passage));
    // One alone is no longer than a chunk may be; the best is better than nothing.
    if (left < 0 && used.length > 0) break;
    used.push(passage);
  }
  return used;
}
