import { CallwayError, invalid, notFound } from '../../base/errors.ts';
import type { ReleaseStores } from './publish.ts';
import type { FinalRolloutStatus, Rollout, RolloutDecision, RolloutInput } from './rollout.ts';

/**
 * Starts a rollout. Runs in a transaction.
 *
 * @throws {CallwayError} 404 `release_not_found`, 400 where it is live, 409 `not_published`, `rollout_running`.
 */
export async function startRollout(
  stores: ReleaseStores,
  projectId: string,
  id: string,
  input: RolloutInput,
  startedAt: string,
): Promise<Rollout> {
  const record = await stores.agents.find(projectId, 'for update');
  if (!record) throw notFound('Agent');
  if (record.live === null)
    throw new CallwayError('conflict', 'not_published', 'Nothing was published yet: publish the agent first');
  if (!(await stores.numberedReleases.find(projectId, input.release))) throw notFound('Release');
  if (input.release === record.live)
    throw invalid('release_is_live', `Everyone gets release ${input.release} already`);
  const rollout: Rollout = {
    ...input,
    id,
    projectId,
    previousRelease: record.live,
    status: 'running',
    startedAt,
    endedAt: null,
    decision: null,
  };
  await stores.rollouts.insert(rollout);
  return rollout;
}

/**
 * Ends a rollout that runs. A promoted release is live, and the working copy is in draft: it may be another one. Runs in a
 * transaction.
 *
 * @returns Whether this call has ended it.
 */
export async function finishRollout(
  stores: ReleaseStores,
  { id, projectId, release }: Rollout,
  status: FinalRolloutStatus,
  decision: RolloutDecision,
): Promise<boolean> {
  const record = await stores.agents.find(projectId, 'for update');
  if (!record || !(await stores.rollouts.finish(id, status, decision))) return false;
  if (status !== 'promoted') return true;
  const promoted = await stores.numberedReleases.find(projectId, release);
  if (!promoted) throw notFound('Release');
  const config = { ...record.config, status: 'draft' as const };
  await stores.agents.save(projectId, { config, live: release }, decision.at, promoted.content.agent);
  return true;
}
