import { z } from 'zod';

import { readPath } from '../../agents/pathway/evaluateExpression.ts';
import { CallwayError, type ErrorDetail } from '../../base/errors.ts';
import type { App, HttpDeps } from '../ports.ts';

const PROJECT = '/v1/projects/:projectId';

/** The fields of a `chat` that name models; the route checks all others. */
const choice = z.looseObject({ model: z.string().optional() });
const namingChat = choice.extend({ fallback: z.array(z.union([z.string(), choice])).catch([]) });
const items = z.array(z.unknown()).catch([]);

type Place = readonly [path: string, chat: unknown];

/** Finds the models in the bodies of these routes, as a `chat` names them, or an `analysis`: path and value. */
const PLACES: Readonly<Record<string, (body: unknown) => Place[]>> = {
  [`${PROJECT}/agent`]: placesInAgent,
  [`${PROJECT}/pathway/nodes`]: (body) => [['/data/chat', readPath(body, 'data.chat')]],
  [`${PROJECT}/pathway/nodes/:nodeId`]: (body) => [['/data/chat', readPath(body, 'data.chat')]],
  [`${PROJECT}/test-suites/:testSuiteId/runs`]: (body) => [['', body]],
  [`${PROJECT}/test-cases/:testCaseId/runs`]: (body) => [['', body]],
  [`${PROJECT}/pathway`]: placesInPathway,
};

/**
 * Refuses models that the operator does not allow, before anything is saved.
 *
 * @throws {CallwayError} 400 `model_not_allowed`
 */
export function refuseOtherModels(app: App, { settings: { allowedModels } }: HttpDeps): void {
  if (!allowedModels) return;
  app.addHook('preHandler', async ({ method, routeOptions, body }) => {
    const find = method === 'GET' ? undefined : PLACES[routeOptions.url ?? ''];
    requireAllowed(allowedModels, find?.(body) ?? []);
  });
}

/**
 * Refuses to restore what names models that the operator does not allow any more.
 *
 * @throws {CallwayError} 400 `model_not_allowed`
 */
export function requireAllowedModels(
  { settings: { allowedModels } }: HttpDeps,
  { agent, pathway }: { readonly agent?: unknown; readonly pathway: unknown },
): void {
  if (allowedModels) requireAllowed(allowedModels, [...placesInAgent(agent), ...placesInPathway(pathway)]);
}

function requireAllowed(allowedModels: readonly string[], places: readonly Place[]): void {
  const details: ErrorDetail[] = places
    .flatMap(([path, chat]) => namedModels(path, chat))
    .filter(({ model }) => !allowedModels.includes(model))
    .map(({ path, model }) => ({ path, message: `The model ${model} is not allowed here` }));
  const [first] = details;
  if (!first) return;
  const message = `${first.message}; the operator allows ${allowedModels.join(', ') || 'none by name'}`;
  throw new CallwayError('invalid', 'model_not_allowed', message, { details });
}

function placesInAgent(agent: unknown): Place[] {
  return [
    ['/chat', readPath(agent, 'chat')],
    ['/analysis', readPath(agent, 'analysis')],
  ];
}

function placesInPathway(pathway: unknown): Place[] {
  const nodes = items.parse(readPath(pathway, 'nodes'));
  return nodes.map((node, index) => [`/nodes/${index}/data/chat`, readPath(node, 'data.chat')]);
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
