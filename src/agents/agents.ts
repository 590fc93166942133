import { type ErrorDetail, invalid, notFound } from '../base/errors.ts';
import { jsonPointer } from '../base/validation.ts';
import type { MakeId } from '../base/values/ids.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import { checkTarget, type TargetPolicy } from '../http/target.ts';
import { type AgentConfig, type AgentConfigPatch, agentTemplates, newAgentConfig } from './agentConfig.ts';
import type { AgentStore, NewPathwayVersion, PathwayStore, StoredPathway, ToolStore } from './agentStores.ts';
import { starterPathway } from './pathway/schema/starterPathway.ts';
import { checkTemplate } from './pathway/templates.ts';
import { type AgentRecord, type AgentRelease, nextRecord } from './releases/release.ts';
import type { Tool } from './tool.ts';

export interface AgentStores {
  readonly agents: AgentStore;
  readonly pathways: PathwayStore;
  readonly tools: ToolStore;
}

/** Creates the agent of a new project, in draft, with a starter pathway. */
export async function createAgent(
  stores: Pick<AgentStores, 'agents' | 'pathways'>,
  deps: { readonly makeId: MakeId },
  project: { readonly id: string; readonly name: string; readonly createdAt: string },
  author: NewPathwayVersion['author'],
): Promise<void> {
  await stores.agents.insert(project.id, { config: newAgentConfig(project.name), frozen: null });
  await stores.pathways.insert(project.id, deps.makeId(), {
    graph: starterPathway(),
    version: 1,
    createdAt: project.createdAt,
    author,
  });
}

/**
 * Changes the fields that the patch names. Runs in a transaction.
 *
 * @throws {CallwayError} `invalid_target` when an address is not allowed, `template_error` when a template is malformed.
 */
export async function updateAgent(
  stores: AgentStores,
  policy: TargetPolicy,
  projectId: string,
  patch: AgentConfigPatch,
  updatedAt: string,
): Promise<AgentConfig> {
  requireAllowedTargets(patch, policy);
  requireValidTemplates(patch);
  const record = await stores.agents.find(projectId, 'for update');
  if (!record) throw notFound('Agent');
  const { recording } = record.config;
  const config: AgentConfig = {
    ...record.config,
    ...omitUndefined(patch),
    recording: { ...recording, ...omitUndefined(patch.recording ?? {}) },
  };
  const workingCopy = async () =>
    releaseOf(record, await stores.pathways.find(projectId), await stores.tools.all(projectId));
  await stores.agents.save(projectId, await nextRecord(record, config, workingCopy), updatedAt);
  return config;
}

/**
 * The release that callers get: the frozen one of an agent in draft, else the working copy.
 *
 * @param draft - Selects the working copy in any case.
 */
export async function releaseFor(
  stores: AgentStores,
  projectId: string,
  draft: boolean,
): Promise<AgentRelease> {
  const [record, pathway, tools] = await Promise.all([
    stores.agents.find(projectId),
    stores.pathways.find(projectId),
    stores.tools.all(projectId),
  ]);
  if (!record) throw notFound('Agent');
  return !draft && record.frozen ? record.frozen : releaseOf(record, pathway, tools);
}

function releaseOf(
  { config }: AgentRecord,
  pathway: StoredPathway | undefined,
  tools: readonly Tool[],
): AgentRelease {
  if (!pathway) throw notFound('Pathway');
  return {
    agent: config,
    pathwayId: pathway.id,
    pathwayVersion: pathway.version,
    pathway: pathway.graph,
    tools,
  };
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
