import { Readable } from 'node:stream';
import { z } from 'zod';

import { CallwayError, notFound } from '../../../base/errors.ts';
import { chunk } from '../../../knowledge/knowledgebase.ts';
import type { ChunkStore } from '../../../knowledge/stores.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, MAX_LIST_LIMIT, MAX_OFFSET, queryInteger } from '../../schemas.ts';
import {
  chunkShape,
  datasetShape,
  findDataset,
  findKnowledgebase,
  onKnowledgePaths,
} from './knowledgePaths.ts';

const PATH = '/knowledgebases/:knowledgebaseId/datasets/:datasetId/chunks';
/** Bounds the memory for the chunks of a long document. */
const CHUNKS_PER_READ = 500;

const pageQuery = z.object({
  limit: queryInteger(1, MAX_LIST_LIMIT).optional().describe('Default: all.'),
  offset: queryInteger(0, MAX_OFFSET).default(0),
});

export function chunkRoutes(app: App, deps: HttpDeps): void {
  listRoute(app, deps);
  switchRoute(app, deps);
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  onKnowledgePaths(PATH, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Preview the chunks', 'In document order.'),
          security,
          params: params(datasetShape),
          querystring: pageQuery,
          response: { 200: z.array(chunk), ...errors() },
        },
      },
      async (request, reply) => {
        const { params, query } = request;
        const { id } = await findKnowledgebase(stores, request, params.knowledgebaseId);
        if (
          !(await stores.datasets.find(id, params.datasetId)) &&
          (await stores.datasets.exists(params.datasetId))
        ) {
          throw new CallwayError(
            'forbidden',
            'dataset_of_another_knowledgebase',
            'The dataset does not belong to the knowledgebase',
          );
        }
        const { chunkCount } = await findDataset(stores, request, params);
        if (chunkCount === 0) throw notFound('Chunks');
        const end = query.limit === undefined ? Number.MAX_SAFE_INTEGER : query.offset + query.limit;
        const json = Readable.from(chunksAsJson(stores.chunks, params.datasetId, query.offset, end));
        return await reply.type('application/json; charset=utf-8').send(json as never);
      },
    );
  });
}

function switchRoute(app: App, { storage: { stores } }: HttpDeps): void {
  onKnowledgePaths(`${PATH}/:chunkId`, 'write', ({ url, config, security, params }) => {
    app.patch(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Switch a chunk on or off', 'Search ignores a chunk that is off.'),
          security,
          params: params(chunkShape),
          body: z.strictObject({ isEnabled: z.boolean() }),
          response: { 200: chunk, ...errors('body') },
        },
      },
      async (request) => {
        const { id } = await findDataset(stores, request, request.params);
        const changed = await stores.chunks.setEnabled(id, request.params.chunkId, request.body.isEnabled);
        if (!changed) throw notFound('Chunk');
        return changed;
      },
    );
  });
}

async function* chunksAsJson(
  chunks: ChunkStore,
  datasetId: string,
  from: number,
  end: number,
): AsyncGenerator<string> {
  let separator = '[';
  for (let offset = from; offset < end; offset += CHUNKS_PER_READ) {
    const limit = Math.min(CHUNKS_PER_READ, end - offset);
    const read = await chunks.list(datasetId, { limit, offset });
    for (const one of read) {
      yield `${separator}${JSON.stringify(one)}`;
      separator = ',';
    }
    if (read.length < limit) break;
  }
  yield separator === '[' ? '[]' : ']';
}
