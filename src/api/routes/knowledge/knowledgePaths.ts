import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { Scope } from '../../../agents/accounts/apiKey.ts';
import { invalid, notFound } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { Dataset, Knowledgebase } from '../../../knowledge/knowledgebase.ts';
import { type Access, keyOf } from '../../plugins/accessControl.ts';
import type { Stores } from '../../ports.ts';

export const knowledgebaseShape = { knowledgebaseId: z.string() };
export const datasetShape = { ...knowledgebaseShape, datasetId: z.string() };
export const chunkShape = { ...datasetShape, chunkId: z.string() };

const projectShape = { projectId: z.string() };

/** What differs between the two paths of a knowledge route. */
export interface KnowledgePath {
  readonly url: string;
  readonly config: { readonly access: Access };
  /** The security of the route in the OpenAPI document. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** Schema of the path parameters; on one of the paths the project is among them. */
  params<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape>;
}

/**
 * Registers a knowledge route on both of its paths: below the project with a Bearer key, and without a project with the
 * header `x-api-key`, whose key determines the project.
 *
 * @param path - Begins with `/knowledgebases`.
 */
export function onKnowledgePaths(path: string, scope: Scope, register: (path: KnowledgePath) => void): void {
  register({
    url: `/v1/projects/:projectId${path}`,
    config: { access: { kind: 'project', scope } },
    security: [{ bearer: [] }],
    params: <Shape extends z.ZodRawShape>(shape: Shape) =>
      // Handlers take the project from the key, so they need no type for this parameter.
      z.object({ ...projectShape, ...shape }) as unknown as z.ZodObject<Shape>,
  });
  register({
    url: path,
    config: { access: { kind: 'knowledge', scope } },
    security: [{ apiKey: [] }],
    params: (shape) => z.object(shape),
  });
}

/**
 * The knowledgebase in the path, if it belongs to the calling key's project.
 *
 * @throws {CallwayError} 404 when there is none; 400 when the id is blank.
 */
export async function findKnowledgebase(
  stores: Stores,
  request: FastifyRequest,
  knowledgebaseId: string,
): Promise<Knowledgebase> {
  requireNotBlank(knowledgebaseId, 'knowledgebaseId');
  const found = await stores.knowledgebases.find(keyOf(request).projectId, knowledgebaseId);
  if (!found) throw notFound('Knowledgebase');
  return found;
}

/** @throws {CallwayError} 404 when the knowledgebase or the dataset does not exist; 400 when an id is blank. */
export async function findDataset(
  stores: Stores,
  request: FastifyRequest,
  params: { readonly knowledgebaseId: string; readonly datasetId: string },
): Promise<Dataset> {
  const { id } = await findKnowledgebase(stores, request, params.knowledgebaseId);
  requireNotBlank(params.datasetId, 'datasetId');
  const found = await stores.datasets.find(id, params.datasetId);
  if (!found) throw notFound('Dataset');
  return found;
}

/** @throws {CallwayError} 400 when it is not a UUID. */
export function requireKnowledgebaseId(knowledgebaseId: string): void {
  if (!isUuid(knowledgebaseId)) {
    throw invalid('invalid_knowledgebase_id', 'knowledgebaseId must be the id of a knowledgebase');
  }
}

function requireNotBlank(id: string, name: string): void {
  if (id.trim() === '') throw invalid('invalid_request', `${name} is missing in the path`);
}
