import { z } from 'zod';

import { notFound } from '../../base/errors.ts';
import type { App } from '../app.ts';
import { BOTH_PATHS, onBothPaths } from '../legacyPaths.ts';
import type { HttpDeps } from '../ports.ts';
import { about, errors, projectParams } from '../schemas.ts';

/** When a model was made is not known here. */
const CREATED_UNKNOWN = 0;

const model = z
  .object({
    id: z.string().meta({ example: 'gpt-5-mini' }),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.literal('callway'),
  })
  .meta({ id: 'Model' });

const NOTE = 'In OpenAI’s shape, for its clients. Which of them answers is up to the agent’s execution mode.';

export function modelRoutes(app: App, deps: HttpDeps): void {
  const models = deps.settings.modelNames.map(
    (id): z.infer<typeof model> => ({ id, object: 'model', created: CREATED_UNKNOWN, owned_by: 'callway' }),
  );

  onBothPaths(BOTH_PATHS.models, ({ url, config, mark }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Chat', 'List the models', NOTE),
          ...mark,
          params: projectParams,
          response: { 200: z.object({ object: z.literal('list'), data: z.array(model) }), ...errors() },
        },
      },
      async () => ({ object: 'list' as const, data: models }),
    );
  });

  onBothPaths(BOTH_PATHS.model, ({ url, config, mark }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Chat', 'Get a model', NOTE),
          ...mark,
          params: projectParams.extend({ model: z.string() }),
          response: { 200: model, ...errors() },
        },
      },
      async ({ params }) => {
        const found = models.find(({ id }) => id === params.model);
        if (!found) throw notFound('Model');
        return found;
      },
    );
  });
}
