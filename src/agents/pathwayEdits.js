import { isDeepStrictEqual } from 'node:util';
import { CallwayError, notFound } from '../base/errors.js';
/** The names outside the graph that a project's pathway may use. */
export async function knownNames(stores, projectId) {
  const tools = await stores.tools.all(projectId);
  return { toolIds: new Set(tools.map(({ id }) => id)) };
}
/** @throws {CallwayError} `pathway_not_found` */
export async function findPathway(stores, projectId, lock) {
  const pathway = await stores.pathways.find(projectId, lock);
  if (!pathway) throw notFound('Pathway');
  return pathway;
}
/**
 * Makes the next version of a pathway; runs in a transaction, and one editor at a time. An edit that changes nothing
 * makes no version.
 *
 * @throws {CallwayError} 412 `version_mismatch` when the editor had seen another version.
 */
export async function editPathway(stores, projectId, edit, change) {
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
  return { id: current.id, version, graph, updatedAt: edit.at };
}
