import { z } from 'zod';

import { CallwayError, notFound } from '../../../base/errors.ts';
import { dataset } from '../../../knowledge/knowledgebase.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, noContent } from '../../schemas.ts';
import {
  datasetShape,
  findDataset,
  findKnowledgebase,
  knowledgebaseShape,
  onKnowledgePaths,
} from './knowledgePaths.ts';

const LIST = '/knowledgebases/:knowledgebaseId/datasets';
const ONE = `${LIST}/:datasetId`;

function retryRoute(app: App, deps: HttpDeps): void {
  const { stores } = deps.storage;
  onKnowledgePaths(`${ONE}/retry`, 'write', ({ url, config, security, params }) => {
    app.post(
      url,
      {
        config,
        schema: {
          ...about(
            'Knowledge',
            'Try a dataset again',
            'Ingests a failed dataset again, and one that waits for its next attempt at once. A `ready` one is 409 `dataset_ready`.',
          ),
          security,
          params: params(datasetShape),
          response: { 202: dataset, ...errors(409) },
        },
      },
      async (request, reply) => {
        const { id } = await findDataset(stores, request, request.params);
        if (!(await stores.datasets.restart(id, new Date(deps.clock.now()).toISOString()))) {
          throw new CallwayError(
            'conflict',
            'dataset_ready',
            'The dataset is ready: nothing is to be tried again',
          );
        }
        await deps.knowledge.documents.wake(id);
        return await reply.code(202).send(await findDataset(stores, request, request.params));
      },
    );
  });
}

export function datasetRoutes(app: App, deps: HttpDeps): void {
  const { stores } = deps.storage;
  retryRoute(app, deps);
  onKnowledgePaths(LIST, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'List the datasets', 'Oldest first.'),
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
  onKnowledgePaths(ONE, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Get a dataset', '`status` tells whether search finds it yet.'),
          security,
          params: params(datasetShape),
          response: { 200: dataset, ...errors() },
        },
      },
      (request) => findDataset(stores, request, request.params),
    );
  });
  onKnowledgePaths(ONE, 'write', ({ url, config, security, params }) => {
    app.delete(
      url,
      {
        config,
        schema: {
          ...about(
            'Knowledge',
            'Delete a dataset',
            'With its file and chunks; a running ingestion is canceled.',
          ),
          security,
          params: params(datasetShape),
          response: { 204: noContent, ...errors() },
        },
      },
      async (request, reply) => {
        const { id } = await findDataset(stores, request, request.params);
        if (!(await stores.datasets.remove(request.params.knowledgebaseId, id))) throw notFound('Dataset');
        await deps.knowledge.documents.cleanUp();
        return await reply.code(204).send(null);
      },
    );
  });
}
