import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { dataset } from '../../../knowledge/knowledgebase.ts';
import type { App } from '../../app.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, noContent } from '../../schemas.ts';
import { datasetShape, findDataset, findKnowledgebase, knowledgebaseShape } from './knowledgeLookups.ts';
import { onBothFamilies } from './knowledgePaths.ts';

const LIST = '/knowledgebases/:knowledgebaseId/datasets';
const ONE = `${LIST}/:datasetId`;

export function datasetRoutes(app: App, deps: HttpDeps): void {
  const { stores } = deps.storage;

  onBothFamilies(LIST, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'List the datasets', 'The oldest first.'),
          security,
          params: params(knowledgebaseShape),
          response: { 200: z.array(dataset), ...errors() },
        },
      },
      async (request) => {
        const { id } = await findKnowledgebase(stores, request, request.params.knowledgebaseId);
        return await stores.datasets.list(id);
      },
    );
  });

  onBothFamilies(ONE, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Get a dataset', 'Its `status` tells whether it can be found yet.'),
          security,
          params: params(datasetShape),
          response: { 200: dataset, ...errors() },
        },
      },
      (request) => findDataset(stores, request, request.params),
    );
  });

  onBothFamilies(ONE, 'write', ({ url, config, security, params }) => {
    app.delete(
      url,
      {
        config,
        schema: {
          ...about(
            'Knowledge',
            'Delete a dataset',
            'Its file, its chunks and what still works on it go with it.',
          ),
          security,
          params: params(datasetShape),
          response: { 204: noContent, ...errors() },
        },
      },
      async (request, reply) => {
        const { id: datasetId } = await findDataset(stores, request, request.params);
        if (!(await stores.datasets.remove(request.params.knowledgebaseId, datasetId)))
          throw notFound('Dataset');
        await deps.knowledge.documents.forget(datasetId);
        return await reply.code(204).send(null);
      },
    );
  });
}
