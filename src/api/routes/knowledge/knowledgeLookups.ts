import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { invalid, notFound } from '../../../base/errors.ts';
import { isUuid } from '../../../base/ids.ts';
import type { Dataset, Knowledgebase } from '../../../knowledge/knowledgebase.ts';
import { keyOf } from '../../plugins/accessControl.ts';
import type { Stores } from '../../ports.ts';

export const knowledgebaseShape = { knowledgebaseId: z.string() };
export const datasetShape = { ...knowledgebaseShape, datasetId: z.string() };
export const chunkShape = { ...datasetShape, chunkId: z.string() };

/**
 * The knowledgebase in the path, of the caller's project.
 *
 * @throws {CallwayError} 404 when there is none; 400 when the path names none.
 */
export async function findKnowledgebase(
  stores: Stores,
  request: FastifyRequest,
  knowledgebaseId: string,
): Promise<Knowledgebase> {
  requireNamed(knowledgebaseId, 'knowledgebaseId');
  const found = await stores.knowledgebases.find(keyOf(request).projectId, knowledgebaseId);
  if (!found) throw notFound('Knowledgebase');
  return found;
}

/** @throws {CallwayError} 404 when the knowledgebase or the dataset in the path is not there; 400 when it names none. */
export async function findDataset(
  stores: Stores,
  request: FastifyRequest,
  params: { readonly knowledgebaseId: string; readonly datasetId: string },
): Promise<Dataset> {
  const { id } = await findKnowledgebase(stores, request, params.knowledgebaseId);
  requireNamed(params.datasetId, 'datasetId');
  const found = await stores.datasets.find(id, params.datasetId);
  if (!found) throw notFound('Dataset');
  return found;
}

/** @throws {CallwayError} 400 when it cannot be the id of any. */
export function requireKnowledgebaseId(knowledgebaseId: string): void {
  if (!isUuid(knowledgebaseId)) {
    throw invalid('invalid_knowledgebase_id', 'knowledgebaseId must be the id of a knowledgebase');
  }
}

function requireNamed(id: string, name: string): void {
  if (id.trim() === '') throw invalid('invalid_request', `${name} is missing in the path`);
}
