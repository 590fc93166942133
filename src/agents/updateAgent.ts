import { type ErrorDetail, invalid, notFound } from '../base/errors.ts';
import { omitUndefined } from '../base/omitUndefined.ts';
import { checkTarget, type TargetPolicy } from '../infra/httpClient/target.ts';
import type { AgentConfig, AgentConfigPatch } from './agentConfig.ts';
import type { AgentStore, PathwayStore, StoredPathway, ToolStore } from './agentStores.ts';
import { type AgentRecord, type AgentRelease, nextRecord } from './release.ts';
import type { Tool } from './tool.ts';

export interface AgentStores {
  readonly agents: AgentStore;
  readonly pathways: PathwayStore;
  readonly tools: ToolStore;
}

/**
 * Changes the fields of an agent that the patch names; runs in a transaction.
 *
 * @throws {CallwayError} `invalid_target` when an address may not be reached.
 */
export async function updateAgent(
  stores: AgentStores,
  policy: TargetPolicy,
  projectId: string,
  patch: AgentConfigPatch,
  updatedAt: string,
): Promise<AgentConfig> {
  refuseTargets(patch, policy);
  const record = await stores.agents.find(projectId, 'for update');
  if (!record) throw notFound('Agent');
  const config: AgentConfig = { ...record.config, ...omitUndefined(patch) };
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
export async function releaseFor(
  stores: AgentStores,
  projectId: string,
  draft: boolean,
): Promise<AgentRelease> {
  // Asked for together, though a frozen release needs only the first: a caller waits for the slowest of them.
  const [record, pathway, tools] = await Promise.all([
    stores.agents.find(projectId),
    stores.pathways.find(projectId),
    stores.tools.all(projectId),
  ]);
  if (!record) throw notFound('Agent');
  return !draft && record.frozen ? record.frozen : releaseOf(record, pathway, tools);
}

async function workingCopy(
  stores: AgentStores,
  projectId: string,
  record: AgentRecord,
): Promise<AgentRelease> {
  const pathway = await stores.pathways.find(projectId);
  return releaseOf(record, pathway, await stores.tools.all(projectId));
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

function refuseTargets(patch: AgentConfigPatch, policy: TargetPolicy): void {
  const details: ErrorDetail[] = [];
  for (const field of ['postSessionWebhook', 'beforeStartConfig'] as const) {
    const url = patch[field]?.url;
    const problem = url === undefined ? undefined : checkTarget(url, policy);
    if (problem) details.push({ path: `/${field}/url`, message: problem.message });
  }
  const [first] = details;
  if (first)
    throw invalid('invalid_target', `${first.path.slice(1).replace('/', '.')}: ${first.message}`, details);
}

function missing(): never {
  throw new Error('a published agent has a live release');
}
