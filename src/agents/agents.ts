import { type ErrorDetail, invalid, notFound } from '../base/errors.ts';
import { jsonPointer } from '../base/validation.ts';
import type { MakeId } from '../base/values/ids.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import type { ReleaseName } from '../base/values/releaseName.ts';
import { checkTarget, type TargetPolicy } from '../http/target.ts';
import { type AgentConfig, type AgentConfigPatch, agentTemplates, newAgentConfig } from './agentConfig.ts';
import type { NewPathwayVersion } from './agentStores.ts';
import { starterPathway } from './pathway/schema/starterPathway.ts';
import { checkTemplate } from './pathway/templates.ts';
import { type Edit, keepEdit, publish, type ReleaseStores, workingCopy } from './releases/publish.ts';
import { type AgentRelease, isWorkingCopyLive } from './releases/release.ts';

/** Creates the agent of a new project, in draft, with a starter pathway. */
export async function createAgent(
  stores: ReleaseStores,
  deps: { readonly makeId: MakeId },
  project: { readonly id: string; readonly name: string; readonly createdAt: string },
  author: NewPathwayVersion['author'],
): Promise<void> {
  await stores.agents.insert(project.id, { config: newAgentConfig(project.name), live: null });
  await stores.pathways.insert(project.id, deps.makeId(), {
    graph: starterPathway(),
    version: 1,
    createdAt: project.createdAt,
    author,
  });
}

/**
 * Changes the fields that the patch names. `status: published` publishes; any other change of a published agent makes a
 * release by itself. Runs in a transaction.
 *
 * @throws {CallwayError} `invalid_target` when an address is not allowed, `template_error` when a template is malformed.
 */
export async function updateAgent(
  stores: ReleaseStores,
  policy: TargetPolicy,
  projectId: string,
  { status, ...patch }: AgentConfigPatch,
  edit: Edit,
): Promise<AgentConfig> {
  requireAllowedTargets(patch, policy);
  requireValidTemplates(patch);
  const record = await stores.agents.find(projectId, 'for update');
  if (!record) throw notFound('Agent');
  // Callers keep what they get now, tools that a server has listed since the last edit included.
  if (status === 'draft') await keepEdit(stores, projectId, edit);
  const { live } = (await stores.agents.find(projectId)) ?? record;
  const config: AgentConfig = {
    ...record.config,
    ...omitUndefined(patch),
    status: status === 'draft' ? 'draft' : record.config.status,
    recording: { ...record.config.recording, ...omitUndefined(patch.recording ?? {}) },
  };
  await stores.agents.save(projectId, { config, live }, edit.at);
  if (status === 'published') {
    await publish(stores, projectId, edit, { note: null, live: true });
    return { ...config, status };
  }
  await keepEdit(stores, projectId, edit);
  return config;
}

/**
 * The release that callers get.
 *
 * @param version - A number, or `draft` for the working copy. Default: the live one.
 * @throws {CallwayError} 404 `agent_not_found`, `release_not_found`.
 */
export async function releaseFor(
  stores: ReleaseStores,
  projectId: string,
  version?: ReleaseName,
): Promise<AgentRelease> {
  const record = await stores.agents.find(projectId);
  if (!record) throw notFound('Agent');
  if (version === 'draft') return await workingCopy(stores, projectId, record);
  if (version === undefined && isWorkingCopyLive(record))
    return { ...(await workingCopy(stores, projectId, record)), number: record.live ?? undefined };
  const number = version ?? record.live;
  const found = number === null ? undefined : await stores.numberedReleases.find(projectId, number);
  if (!found) throw notFound('Release');
  return found.content;
}

/** The live release with that of the rollout that runs, which some people get in place of it; or the draft. */
export async function offeredReleases(stores: ReleaseStores, projectId: string, draft: boolean) {
  if (draft) return { live: await releaseFor(stores, projectId, 'draft') };
  const live = await releaseFor(stores, projectId);
  const rollout = await stores.rollouts.running(projectId);
  const found = rollout && (await stores.numberedReleases.find(projectId, rollout.release));
  return { live, candidate: found && { rollout, release: found.content } };
}

/** The configuration that callers get; undefined for an unknown project. */
export async function liveAgent(stores: ReleaseStores, projectId: string): Promise<AgentConfig | undefined> {
  const record = await stores.agents.find(projectId);
  if (!record || record.live === null || isWorkingCopyLive(record)) return record?.config;
  return (await stores.numberedReleases.find(projectId, record.live))?.content.agent;
}

function requireValidTemplates(patch: AgentConfigPatch): void {
  const details = agentTemplates(patch).flatMap(({ path, template }) => {
    const message = checkTemplate(template);
    return message === undefined ? [] : [{ path: jsonPointer(path), message }];
  });
  const [first] = details;
  if (first) throw invalid('template_error', `${first.path.slice(1)}: ${first.message}`, details);
}

function requireAllowedTargets(patch: AgentConfigPatch, policy: TargetPolicy): void {
  const details: ErrorDetail[] = [];
  for (const field of ['postSessionWebhook', 'eventWebhook', 'beforeStartConfig'] as const) {
    const url = patch[field]?.url;
    const problem = url === undefined ? undefined : checkTarget(url, policy);
    if (problem) details.push({ path: `/${field}/url`, message: problem.message });
  }
  const [first] = details;
  if (first) {
    throw invalid('invalid_target', `${first.path.slice(1).replace('/', '.')}: ${first.message}`, details);
  }
}
