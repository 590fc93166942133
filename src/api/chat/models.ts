import { z } from 'zod';

import type { ExecutionMode } from '../../agents/agentConfig.ts';
import { CallwayError, notFound } from '../../base/errors.ts';
import { LEGACY_PATHS, onBothPaths } from '../legacyPaths.ts';
import { OPENAI_PREFIX, openAiErrors } from '../openAiErrors.ts';
import type { App, HttpDeps } from '../ports.ts';
import { about, errors, projectParams } from '../schemas.ts';

/** The creation time of a model is unknown. */
const CREATED = 0;

const model = z
  .object({
    id: z.string().meta({ example: 'gpt-6.1-terra' }),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.literal('callway'),
  })
  .meta({ id: 'Model' });

const NOTE =
  'In OpenAI’s format, for its clients. The agent’s execution mode chooses the model that answers.';

const OPENAI_NOTE =
  '`callway` is the agent in its own execution mode; `callway-smart`, `callway-balance` and `callway-turbo` override it for a new session.';

/** What clients of OpenAI's API select as a model: the agent, in its own execution mode or in another one. */
const MODES: ReadonlyMap<string, ExecutionMode | undefined> = new Map([
  ['callway', undefined],
  ['callway-smart', 'smart'],
  ['callway-balance', 'balance'],
  ['callway-turbo', 'turbo'],
]);

const list = z.object({ object: z.literal('list'), data: z.array(model) });

/** The execution mode that a model's name selects; undefined for the agent's own. */
export function modeOfModel(name: string | null | undefined): ExecutionMode | undefined {
  return MODES.get(name ?? '');
}

export function modelRoutes(app: App, deps: HttpDeps): void {
  const models = deps.settings.modelNames.map(toModel);

  onBothPaths(LEGACY_PATHS.models, ({ url, config, mark }) => {
    app.get(
      url,
      {
        config,
        schema: {
          ...about('Chat', 'List the models', NOTE),
          ...mark,
          params: projectParams,
          response: { 200: list, ...errors() },
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

/** The models under {@link OPENAI_PREFIX}. */
export function openAiModelRoutes(app: App): void {
  const models = [...MODES.keys()].map(toModel);
  const config = { access: { kind: 'project' as const, scope: 'read' as const } };

  app.get(
    `${OPENAI_PREFIX}/models`,
    {
      config,
      schema: {
        ...about('OpenAI', 'List the models', OPENAI_NOTE),
        params: projectParams,
        response: { 200: list, ...openAiErrors() },
      },
    },
    async () => ({ object: 'list' as const, data: models }),
  );

  app.get(
    `${OPENAI_PREFIX}/models/:model`,
    {
      config,
      schema: {
        ...about('OpenAI', 'Get a model', OPENAI_NOTE),
        params: projectParams.extend({ model: z.string() }),
        response: { 200: model, ...openAiErrors() },
      },
    },
    async ({ params }) => {
      const found = models.find(({ id }) => id === params.model);
      if (!found) throw unknownModel(params.model);
      return found;
    },
  );
}

function toModel(id: string): z.infer<typeof model> {
  return { id, object: 'model', created: CREATED, owned_by: 'callway' };
}

function unknownModel(id: string): CallwayError {
  const message = `There is no model ${id}; the models are ${[...MODES.keys()].join(', ')}`;
  return new CallwayError('not_found', 'model_not_found', message, {
    details: [{ path: '/model', message }],
  });
}
