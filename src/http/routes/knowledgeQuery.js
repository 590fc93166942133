import { z } from 'zod';
import { invalid } from '../../base/errors.js';
import { chunk } from '../../knowledge/knowledgebase.js';
import { DEFAULT_SCORE_THRESHOLD, DEFAULT_TOP_K } from '../../knowledge/search/retrieval.js';
import { keyOf } from '../access.js';
import { about, errors, queryInteger } from '../answers.js';
import { onBothFamilies } from '../bothFamilies.js';
import { findKnowledgebase, knowledgebaseShape } from '../knowledgeAnswers.js';

const MAX_TOP_K = 50;
/** As much as an embedding model takes; a question has far less. */
const MAX_QUESTION_CHARACTERS = 2_000;
const threshold = z
  .string()
  .regex(/^(?:0(?:\.\d{1,15})?|1(?:\.0{1,15})?|\.\d{1,15})$/, 'must be a number from 0 to 1')
  .transform(Number);
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
export function knowledgeQueryRoutes(app, deps) {
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
        const options = {
          mode,
          ...(topK === undefined ? {} : { topK }),
          ...(scoreThreshold === undefined ? {} : { scoreThreshold }),
        };
        return await deps.knowledge.retrieval.search(keyOf(request).projectId, q, options);
      },
    );
  });
}
