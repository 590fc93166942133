import { z } from 'zod';

import { knowledgebase, knowledgebaseInput } from '../../../knowledge/knowledgebase.ts';
import { idempotent } from '../../idempotency.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors } from '../../schemas.ts';
import { onKnowledgePaths } from './knowledgePaths.ts';

const PATH = '/knowledgebases';

export function knowledgebaseRoutes(app: App, deps: HttpDeps): void {
  onKnowledgePaths(PATH, 'write', ({ url, config, security, params }) => {
    app.post(
      url,
      {
        config,
        schema: {
          ...about(
            'Knowledge',
            'Create the knowledgebase',
            'A project has one; creating a second is 400 `knowledgebase_exists`.',
          ),
          security,
          params: params({}),
          body: knowledgebaseInput,
          response: { 201: z.object({ message: z.string(), id: z.string() }), ...errors('body', 409) },
        },
      },
      (request, reply) =>
        idempotent(deps, { request, reply, status: 201 }, async (stores) => {
          const { body } = request;
          const id = deps.makeId();
          await stores.knowledgebases.insert({
            id,
            projectId: keyOf(request).projectId,
            ...body,
            encoder: deps.knowledge.encoderOf(body.embeddingModelName),
            createdAt: new Date(deps.clock.now()).toISOString(),
          });
          return { message: 'Knowledgebase created', id };
        }),
    );
  });
  onKnowledgePaths(PATH, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Get the knowledgebase', 'A list of at most one.'),
          security,
          params: params({}),
          response: { 200: z.array(knowledgebase), ...errors() },
        },
      },
      (request) => deps.storage.stores.knowledgebases.list(keyOf(request).projectId),
    );
  });
}
