import { notFound } from '../../base/errors.ts';
import type { AgentStore, NumberedReleaseStore, PathwayStore, ToolStore } from '../agentStores.ts';
import type { AgentRecord, AgentRelease, Author } from './release.ts';
import type { RolloutStore } from './rollout.ts';

/** Further edits of one author within this time are part of the release that the first one made. */
const COALESCED_MS = 60_000;

export interface ReleaseStores {
  readonly agents: AgentStore;
  readonly pathways: PathwayStore;
  readonly tools: ToolStore;
  readonly numberedReleases: NumberedReleaseStore;
  readonly rollouts: RolloutStore;
}

/** Who changes something, and when. */
export interface Edit {
  readonly author: Author;
  /** ISO 8601. */
  readonly at: string;
}

export interface Publication {
  readonly note: string | null;
  /** Whether callers get it; otherwise they get what they got before. */
  readonly live: boolean;
}

/** Makes a release of the working copy. Runs in a transaction. @returns Its number. */
export async function publish(
  stores: ReleaseStores,
  projectId: string,
  edit: Edit,
  { note, live }: Publication,
): Promise<number> {
  const record = await stores.agents.find(projectId, 'for update');
  if (!record) throw notFound('Agent');
  const content = await publishedCopy(stores, projectId, record);
  const number = await stores.numberedReleases.insert(projectId, {
    content,
    createdAt: edit.at,
    createdBy: edit.author,
    note,
    isAutomatic: false,
  });
  if (live) {
    await stores.agents.save(projectId, { config: content.agent, live: number }, edit.at);
    await endRollout(stores, projectId, edit.at);
  }
  return number;
}

/**
 * Keeps what an edit of a published agent has put live: in a release of its own, or in the one of the edits just before.
 * A rollout that runs has ended. Does nothing in draft, and for an edit that changes nothing. Runs in the transaction of
 * the edit.
 */
export async function keepEdit(stores: ReleaseStores, projectId: string, edit: Edit): Promise<void> {
  const record = await stores.agents.find(projectId, 'for update');
  if (record?.config.status !== 'published') return;
  const content = await publishedCopy(stores, projectId, record);
  if (record.live !== null && (await stores.numberedReleases.isSame(projectId, record.live, content))) return;
  const release = {
    content,
    createdAt: edit.at,
    createdBy: edit.author,
    note: null,
    isAutomatic: true,
  };
  await endRollout(stores, projectId, edit.at);
  const since = new Date(Date.parse(edit.at) - COALESCED_MS).toISOString();
  if (await stores.numberedReleases.amend(projectId, release, since)) return;
  const live = await stores.numberedReleases.insert(projectId, release);
  await stores.agents.save(projectId, { ...record, live }, edit.at);
}

/** Ends the rollout that runs, since what callers get was changed. */
async function endRollout({ rollouts }: ReleaseStores, projectId: string, at: string): Promise<void> {
  const running = await rollouts.running(projectId);
  if (running) await rollouts.finish(running.id, 'ended', { at, reason: 'agent_changed', figures: [] });
}

/** What is edited now. */
export async function workingCopy(
  stores: ReleaseStores,
  projectId: string,
  { config }: AgentRecord,
): Promise<AgentRelease> {
  const [pathway, tools] = await Promise.all([stores.pathways.find(projectId), stores.tools.all(projectId)]);
  if (!pathway) throw notFound('Pathway');
  return {
    agent: config,
    pathwayId: pathway.id,
    pathwayVersion: pathway.version,
    pathway: pathway.graph,
    tools,
  };
}

async function publishedCopy(
  stores: ReleaseStores,
  projectId: string,
  record: AgentRecord,
): Promise<AgentRelease> {
  const config = { ...record.config, status: 'published' as const };
  return await workingCopy(stores, projectId, { ...record, config });
}
