import { isDeepStrictEqual } from 'node:util';

import { CallwayError, notFound } from '../../base/errors.ts';
import type { StoredPathway } from '../agentStores.ts';
import { type Edit, keepEdit, type ReleaseStores } from '../releases/publish.ts';
import type { Pathway } from './schema/pathwaySchema.ts';
import type { KnownNames } from './structure.ts';

export interface PathwayEdit extends Edit {
  /** The version that the edit is based on; any other is refused. */
  readonly ifVersion?: number | undefined;
  readonly restoredFrom?: number;
}

/** The names that a project's pathway may refer to. */
export async function knownNames(stores: ReleaseStores, projectId: string): Promise<KnownNames> {
  const tools = await stores.tools.all(projectId);
  return { toolIds: new Set(tools.map(({ id }) => id)) };
}

/** @throws {CallwayError} `pathway_not_found` */
export async function findPathway(
  stores: ReleaseStores,
  projectId: string,
  lock?: 'for update',
): Promise<StoredPathway> {
  const pathway = await stores.pathways.find(projectId, lock);
  if (!pathway) throw notFound('Pathway');
  return pathway;
}

/**
 * Creates the next version of a pathway, and a release while the agent is published. Runs in a transaction; concurrent
 * edits wait for each other. An edit without a change creates no version.
 *
 * @throws {CallwayError} 412 `version_mismatch` when the edit is based on another version.
 */
export async function editPathway(
  stores: ReleaseStores,
  projectId: string,
  edit: PathwayEdit,
  change: (graph: Pathway, known: KnownNames) => Pathway,
): Promise<StoredPathway> {
  const current = await findPathway(stores, projectId, 'for update');
  if (edit.ifVersion !== undefined && edit.ifVersion !== current.version) {
    throw new CallwayError(
      'precondition_failed',
      'version_mismatch',
      `The pathway is at version ${current.version}, not ${edit.ifVersion}; read it again`,
    );
  }
  const graph = change(current.graph, await knownNames(stores, projectId));
  if (isDeepStrictEqual(graph, current.graph)) return current;
  const version = current.version + 1;
  const restored = edit.restoredFrom === undefined ? {} : { restoredFrom: edit.restoredFrom };
  await stores.pathways.append(projectId, {
    graph,
    version,
    createdAt: edit.at,
    author: edit.author,
    ...restored,
  });
  await keepEdit(stores, projectId, edit);
  return { id: current.id, version, graph, updatedAt: edit.at };
}
