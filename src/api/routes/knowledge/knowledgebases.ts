import { z } from 'zod';

import { knowledgebase, knowledgebaseInput } from '../../../knowledge/knowledgebase.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors } from '../../schemas.ts';
import { onBothFamilies } from './knowledgePaths.ts';

const PATH = '/knowledgebases';

const created = z.object({ message: z.string() });

export function knowledgebaseRoutes(app: App, deps: HttpDeps): void {
  const { storage, knowledge } = deps;

  onBothFamilies(PATH, 'write', ({ url, config, security, params }) => {
    app.post(
      url,
      {
        config,
        schema: {
          ...about(
            'Knowledge',
            'Create the knowledgebase',
            'A project has one; another is 400 `knowledgebase_exists`.',
          ),
          security,
          params: params({}),
          body: knowledgebaseInput,
          response: { 201: created, ...errors('body', 409) },
        },
      },
      (request, reply) =>
        createOnce(deps, request, reply, { status: 201 }, async (stores) => {
          const { body } = request;
          await stores.knowledgebases.insert({
            id: deps.makeId(),
            projectId: keyOf(request).projectId,
            ...body,
            encoder: knowledge.encoderOf(body.embeddingModelName),
            createdAt: new Date(deps.clock.now()).toISOString(),
          });
          return { message: 'Knowledgebase created' };
        }),
    );
  });

  onBothFamilies(PATH, 'read', ({ url, config, security, params }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Knowledge', 'Get the knowledgebase', 'One at most.'),
          security,
          params: params({}),
          response: { 200: z.array(knowledgebase), ...errors() },
        },
      },
      (request) => storage.stores.knowledgebases.list(keyOf(request).projectId),
    );
  });
}
