import type { MakeId } from '../base/ids.ts';
import { newAgentConfig } from './agentConfig.ts';
import type { AgentStore, NewPathwayVersion, PathwayStore } from './agentStores.ts';
import { starterPathway } from './pathway/schema/starterPathway.ts';

export interface NewAgentProject {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Gives a new project its agent, in draft, and its first pathway. */
export async function createAgent(
  stores: { readonly agents: AgentStore; readonly pathways: PathwayStore },
  deps: { readonly makeId: MakeId },
  project: NewAgentProject,
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
