import { z } from 'zod';

import { notFound } from '../../base/errors.ts';
import { LEGACY_PATHS, onBothPaths } from '../legacyPaths.ts';
import type { App, HttpDeps } from '../ports.ts';
import { about, errors, projectParams } from '../schemas.ts';

/** The creation time of a model is unknown. */
const CREATED = 0;

const model = z
  .object({
    id: z.string().meta({ example: 'gpt-5-mini' }),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.literal('callway'),
  })
  .meta({ id: 'Model' });

const NOTE =
  'In OpenAI’s format, for its clients. The agent’s execution mode chooses the model that answers.';

export function modelRoutes(app: App, deps: HttpDeps): void {
  const models = deps.settings.modelNames.map(
    (id): z.infer<typeof model> => ({ id, object: 'model', created: CREATED, owned_by: 'callway' }),
  );

  onBothPaths(LEGACY_PATHS.models, ({ url, config, mark }) => {
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

  onBothPaths(LEGACY_PATHS.model, ({ url, config, mark }) => {
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
