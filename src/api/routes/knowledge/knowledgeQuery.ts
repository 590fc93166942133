import { z } from 'zod';

import { invalid } from '../../../base/errors.ts';
import { chunk } from '../../../knowledge/knowledgebase.ts';
import {
  DEFAULT_SCORE_THRESHOLD,
  DEFAULT_TOP_K,
  type SearchOptions,
} from '../../../knowledge/search/retrieval.ts';
import type { App } from '../../app.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, queryInteger } from '../../schemas.ts';
import { findKnowledgebase, knowledgebaseShape } from './knowledgeLookups.ts';
import { onBothFamilies } from './knowledgePaths.ts';

const MAX_TOP_K = 50;
/** As much as an embedding model takes; a question has far less. */
const MAX_QUESTION_CHARACTERS = 2_000;

const THRESHOLD_RULE = 'must be a number from 0 to 1';

const threshold = z
  .string()
  // As programs write numbers, with all of their digits, or with an exponent where they are tiny.
  .regex(/^(?:\d{1,3}(?:\.\d{0,30})?|\.\d{1,30})(?:e-?\d{1,3})?$/i, THRESHOLD_RULE)
  .transform(Number)
  .refine((value) => value <= 1, THRESHOLD_RULE);

const question = z.object({
  q: z.string().min(1).max(MAX_QUESTION_CHARACTERS).describe('What is sought.'),
  topK: queryInteger(1, MAX_TOP_K).optional().describe(`Most results; default ${DEFAULT_TOP_K}.`),
  scoreThreshold: threshold
    .optional()
    .describe(
      `Least cosine similarity of every result. Default ${DEFAULT_SCORE_THRESHOLD}, which leaves out no chunk that hybrid search found by its words.`,
    ),
  mode: z
    .enum(['semantic', 'hybrid'])
    .default('semantic')
    .describe('`hybrid` fuses the ranks by meaning with those by words.'),
});

const found = chunk.extend({
  score: z.number().describe('Cosine similarity to the query.'),
  datasetId: z.string(),
  datasetName: z.string(),
});

export function knowledgeQueryRoutes(app: App, deps: HttpDeps): void {
  onBothFamilies('/knowledgebases/:knowledgebaseId/query', 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Query the chunks', 'The best first; only enabled ones.'),
          security,
          params: params(knowledgebaseShape),
          querystring: question,
          response: { 200: z.array(found), ...errors() },
        },
      },
      async (request) => {
        await findKnowledgebase(deps.storage.stores, request, request.params.knowledgebaseId);
        const { q, topK, scoreThreshold, mode } = request.query;
        if (q.trim() === '') throw invalid('invalid_request', 'q must not be empty');
        const options: SearchOptions = {
          mode,
          ...(topK === undefined ? {} : { topK }),
          ...(scoreThreshold === undefined ? {} : { scoreThreshold }),
        };
        return await deps.knowledge.retrieval.search(keyOf(request).projectId, q, options);
      },
    );
  });
}
