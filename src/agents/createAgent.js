import { starterPathway } from '../pathway/starter.js';
import { newAgentConfig } from './agentConfig.js';
/** Gives a new project its agent, in draft, and its first pathway. */
export async function createAgent(stores, deps, project, author) {
  await stores.agents.insert(project.id, { config: newAgentConfig(project.name), frozen: null });
  await stores.pathways.insert(project.id, deps.makeId(), {
    graph: starterPathway(),
    version: 1,
    createdAt: project.createdAt,
    author,
  });
}
