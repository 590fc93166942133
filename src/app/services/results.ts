import { liveAgent } from '../../agents/agents.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { alertWork } from '../../results/alerts/evaluateAlert.ts';
import {
  type AnalyzeDeps,
  analysisWork,
  analyzeAgain,
  requireAnalyzing,
} from '../../results/analysis/analyzeAgain.ts';
import { rolloutWork } from '../../results/rollouts/judgeRollout.ts';
import type { NodeContext } from '../node/node.ts';
import { announcer, startWork } from './work.ts';

/** A request is not ended: the models have a limit of their own. */
const NEVER = new AbortController().signal;

/** Makes analyses anew. Nodes of the role `worker` also work on analysis jobs, judge rollouts and evaluate alerts. */
export function buildResults(node: NodeContext, models: ModelChoice) {
  const { clock, storage, sandbox, config, liveEvents, onError } = node;
  const { stores, work, insights, transaction } = storage;
  const { history, analyses, alerts } = stores;
  const agentOf = (projectId: string) => liveAgent(stores, projectId);
  const deps: AnalyzeDeps = { models, schemas: sandbox, clock, onError, agentOf, history, analyses };
  const jobs = analysisWork(deps, work.analyses);
  if (config.ROLES.includes('worker')) {
    startWork(node, jobs);
    startWork(node, rolloutWork({ stores, transaction, insights, liveEvents, clock }, work.rollouts));
    startWork(node, alertWork({ alerts, insights, liveEvents, clock }, work.alerts));
  }
  return {
    analyzeAgain: (projectId: string, sessionId: string) => analyzeAgain(deps, projectId, sessionId, NEVER),
    requireAnalyzing: (projectId: string) => requireAnalyzing(deps, projectId),
    wake: announcer(node, jobs.name),
  };
}
