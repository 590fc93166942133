import { liveAgent } from '../../agents/agents.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import {
  type AnalyzeDeps,
  analysisWork,
  analyzeAgain,
  requireAnalyzing,
} from '../../results/analysis/analyzeAgain.ts';
import type { NodeContext } from '../node/node.ts';
import { announcer, startWork } from './work.ts';

/** A request is not ended: the models have a limit of their own. */
const NEVER = new AbortController().signal;

/** Analyses that are made anew; nodes of the role `worker` also work on the jobs. */
export function buildAnalyses(node: NodeContext, models: ModelChoice) {
  const { clock, storage, sandbox, config, wakeups, lifecycle, onError } = node;
  const { history, analyses } = storage.stores;
  const agentOf = (projectId: string) => liveAgent(storage.stores, projectId);
  const deps: AnalyzeDeps = { models, schemas: sandbox, clock, onError, agentOf, history, analyses };
  const work = analysisWork(deps, storage.work.analyses);
  if (config.ROLES.includes('worker')) startWork({ wakeups, clock, lifecycle, onError }, work);
  return {
    analyzeAgain: (projectId: string, sessionId: string) => analyzeAgain(deps, projectId, sessionId, NEVER),
    requireAnalyzing: (projectId: string) => requireAnalyzing(deps, projectId),
    wake: announcer({ wakeups, onError }, work.name),
  };
}
