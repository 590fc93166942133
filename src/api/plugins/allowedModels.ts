import { z } from 'zod';

import { readPath } from '../../agents/pathway/evaluateExpression.ts';
import { CallwayError, type ErrorDetail } from '../../base/errors.ts';
import type { App, HttpDeps } from '../ports.ts';

const PROJECT = '/v1/projects/:projectId';

/** The fields of a `chat` that name models; the route checks all others. */
const choice = z.looseObject({ model: z.string().optional() });
const namingChat = choice.extend({ fallback: z.array(z.union([z.string(), choice])).catch([]) });
const items = z.array(z.unknown()).catch([]);

/** Finds the models in the bodies of these routes, as a `chat` names them, or an `analysis`: path and value. */
const PLACES: Readonly<Record<string, (body: unknown) => (readonly [path: string, chat: unknown])[]>> = {
  [`${PROJECT}/agent`]: (body) => [
    ['/chat', readPath(body, 'chat')],
    ['/analysis', readPath(body, 'analysis')],
  ],
  [`${PROJECT}/pathway/nodes`]: (body) => [['/data/chat', readPath(body, 'data.chat')]],
  [`${PROJECT}/pathway/nodes/:nodeId`]: (body) => [['/data/chat', readPath(body, 'data.chat')]],
  [`${PROJECT}/test-suites/:testSuiteId/runs`]: (body) => [['', body]],
  [`${PROJECT}/test-cases/:testCaseId/runs`]: (body) => [['', body]],
  [`${PROJECT}/pathway`]: (body) =>
    items
      .parse(readPath(body, 'nodes'))
      .map((node, index) => [`/nodes/${index}/data/chat`, readPath(node, 'data.chat')] as const),
};

/**
 * Refuses models that the operator does not allow, before anything is saved.
 *
 * @throws {CallwayError} 400 `model_not_allowed`
 */
export function refuseOtherModels(app: App, { settings }: HttpDeps): void {
  const { allowedModels } = settings;
  if (!allowedModels) return;
  app.addHook('preHandler', async ({ method, routeOptions, body }) => {
    const find = method === 'GET' ? undefined : PLACES[routeOptions.url ?? ''];
    const details: ErrorDetail[] = (find?.(body) ?? [])
      .flatMap(([path, chat]) => namedModels(path, chat))
      .filter(({ model }) => !allowedModels.includes(model))
      .map(({ path, model }) => ({ path, message: `The model ${model} is not allowed here` }));
    const [first] = details;
    if (!first) return;
    const message = `${first.message}; the operator allows ${allowedModels.join(', ') || 'none by name'}`;
    throw new CallwayError('invalid', 'model_not_allowed', message, { details });
  });
}

function namedModels(path: string, chat: unknown): { readonly path: string; readonly model: string }[] {
  const { data } = namingChat.safeParse(chat);
  if (!data) return [];
  const fallbacks = data.fallback.map((entry, index) =>
    typeof entry === 'string'
      ? { path: `${path}/fallback/${index}`, model: entry }
      : { path: `${path}/fallback/${index}/model`, model: entry.model },
  );
  return [{ path: `${path}/model`, model: data.model }, ...fallbacks].flatMap(({ model, ...at }) =>
    model === undefined ? [] : [{ ...at, model }],
  );
}
