import { definedOnly } from '../base/definedOnly.js';
import { invalid, notFound } from '../base/errors.js';
import { checkTarget } from '../egress/target.js';
import { nextRecord } from './release.js';
/**
 * Changes the fields of an agent that the patch names; runs in a transaction.
 *
 * @throws {CallwayError} `invalid_target` when an address may not be reached.
 */
export async function updateAgent(stores, policy, projectId, patch, updatedAt) {
  refuseTargets(patch, policy);
  const record = await stores.agents.find(projectId, 'for update');
  if (!record) throw notFound('Agent');
  const config = { ...record.config, ...definedOnly(patch) };
  const live =
    record.config.status === 'published' ? await workingCopy(stores, projectId, record) : undefined;
  const next = nextRecord(record, config, () => live ?? missing());
  await stores.agents.save(projectId, next, updatedAt);
  return config;
}
/**
 * What callers get: the frozen release of an agent in draft, else the working copy.
 *
 * @param draft - Asks for the working copy in any case.
 */
export async function releaseFor(stores, projectId, draft) {
  // Asked for together, though a frozen release needs only the first: a caller waits for the slowest of them.
  const [record, pathway, tools] = await Promise.all([
    stores.agents.find(projectId),
    stores.pathways.find(projectId),
    stores.tools.all(projectId),
  ]);
  if (!record) throw notFound('Agent');
  return !draft && record.frozen ? record.frozen : releaseOf(record, pathway, tools);
}
async function workingCopy(stores, projectId, record) {
  const pathway = await stores.pathways.find(projectId);
  return releaseOf(record, pathway, await stores.tools.all(projectId));
}
function releaseOf({ config }, pathway, tools) {
  if (!pathway) throw notFound('Pathway');
  return {
    agent: config,
    pathwayId: pathway.id,
    pathwayVersion: pathway.version,
    pathway: pathway.graph,
    tools,
  };
}
function refuseTargets(patch, policy) {
  const details = [];
  for (const field of ['postSessionWebhook', 'beforeStartConfig']) {
    const url = patch[field]?.url;
    const problem = url === undefined ? undefined : checkTarget(url, policy);
    if (problem) details.push({ path: `/${field}/url`, message: problem.message });
  }
  const [first] = details;
  if (first)
    throw invalid('invalid_target', `${first.path.slice(1).replace('/', '.')}: ${first.message}`, details);
}
function missing() {
  throw new Error('a published agent has a live release');
}
