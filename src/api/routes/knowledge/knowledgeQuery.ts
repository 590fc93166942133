import { z } from 'zod';

import { invalid } from '../../../base/errors.ts';
import { chunk } from '../../../knowledge/knowledgebase.ts';
import {
  DEFAULT_SCORE_THRESHOLD,
  DEFAULT_TOP_K,
  type SearchOptions,
} from '../../../knowledge/search/retrieval.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, queryInteger } from '../../schemas.ts';
import { findKnowledgebase, knowledgebaseShape, onKnowledgePaths } from './knowledgePaths.ts';

const MAX_TOP_K = 50;
/** The limit of embedding models; questions are far shorter. */
const MAX_QUESTION_CHARACTERS = 2_000;

const THRESHOLD_RULE = 'must be a number from 0 to 1';

const threshold = z
  .string()
  // As programs print numbers: many digits, or an exponent.
  .regex(/^(?:\d{1,3}(?:\.\d{0,30})?|\.\d{1,30})(?:e-?\d{1,3})?$/i, THRESHOLD_RULE)
  .transform(Number)
  .refine((value) => value <= 1, THRESHOLD_RULE);

const question = z.object({
  q: z.string().min(1).max(MAX_QUESTION_CHARACTERS).describe('What to search for.'),
  topK: queryInteger(1, MAX_TOP_K)
    .optional()
    .describe(`Maximum number of results. Default ${DEFAULT_TOP_K}.`),
  scoreThreshold: threshold
    .optional()
    .describe(
      `Minimum cosine similarity of a result. Default ${DEFAULT_SCORE_THRESHOLD}; the default does not apply to chunks that hybrid search finds by their words.`,
    ),
  mode: z
    .enum(['semantic', 'hybrid'])
    .default('semantic')
    .describe('`hybrid` combines the ranking by meaning with the ranking by words.'),
});

const searchResult = chunk.extend({
  score: z.number().describe('Cosine similarity to the query.'),
  datasetId: z.string(),
  datasetName: z.string(),
});

export function knowledgeQueryRoutes(app: App, deps: HttpDeps): void {
  onKnowledgePaths('/knowledgebases/:knowledgebaseId/query', 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config: { ...config, isSearch: true },
        schema: {
          ...about('Knowledge', 'Query the chunks', 'Best match first; only chunks that are switched on.'),
          security,
          params: params(knowledgebaseShape),
          querystring: question,
          response: { 200: z.array(searchResult), ...errors() },
        },
      },
      async (request) => {
        await findKnowledgebase(deps.storage.stores, request, request.params.knowledgebaseId);
        const { q, topK, scoreThreshold, mode } = request.query;
        if (q.trim() === '') throw invalid('invalid_request', 'q must not be empty');
        const options: SearchOptions = {
          mode,
          topK,
          scoreThreshold,
        };
        return await deps.knowledge.retrieval.search(keyOf(request).projectId, q, options);
      },
    );
  });
}
