import type { TargetPolicy } from '../../http/target.ts';
import type { AgentConfig } from '../agentConfig.ts';
import type { StoredPathway } from '../agentStores.ts';
import { updateAgent } from '../agents.ts';
import { editPathway } from '../pathway/editPathway.ts';
import { checkTools, requireValidStructure } from '../pathway/structure.ts';
import type { Edit, ReleaseStores } from './publish.ts';
import type { NumberedRelease } from './release.ts';

/**
 * Makes a release the working copy again: the agent with its secrets, and a new version of the pathway. The tools are the
 * project's, and stay as they are. Runs in a transaction.
 *
 * @throws {CallwayError} 400 where the pathway uses a tool that was deleted, or an address is not allowed any more.
 */
export async function restoreRelease(
  stores: ReleaseStores,
  policy: TargetPolicy,
  projectId: string,
  { content: { agent, pathway, pathwayVersion } }: NumberedRelease,
  edit: Edit,
): Promise<{ agent: AgentConfig; pathway: StoredPathway }> {
  const restored = await editPathway(
    stores,
    projectId,
    { ...edit, restoredFrom: pathwayVersion },
    (_current, known) => {
      requireValidStructure(checkTools(pathway, known));
      return pathway;
    },
  );
  const { status: _status, ...config } = agent;
  return { agent: await updateAgent(stores, policy, projectId, config, edit), pathway: restored };
}
