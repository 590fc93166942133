import type { AgentConfig } from '../../agents/agentConfig.ts';
import { CallwayError, notFound } from '../../base/errors.ts';
import type { HistoryStore } from '../../engine/history/historyStore.ts';
import type { SessionResults } from '../../engine/history/sessionResults.ts';
import type { LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { AnalysisStore } from './analysisStore.ts';
import { type JudgeDeps, judgeSession } from './judgeSession.ts';

/** Sessions that a node analyzes at once; a project alone has half of them. */
const MAX_RUNNING = 40;

export interface AnalyzeDeps extends JudgeDeps {
  /** Returns the agent of the live release. */
  readonly agentOf: (projectId: string) => Promise<AgentConfig | undefined>;
  readonly history: HistoryStore;
  readonly analyses: AnalysisStore;
}

/**
 * Repeats the analysis and evaluation of an ended session by the agent of the live release, and stores them.
 *
 * @param sessionId - Names the newest session with this id.
 * @throws {CallwayError} 404; 409 `session_active` before its end, `analysis_not_configured` where the agent wants to
 *   know nothing.
 */
export async function analyzeAgain(
  deps: AnalyzeDeps,
  projectId: string,
  sessionId: string,
  signal: AbortSignal,
): Promise<SessionResults> {
  const { analyses, history } = deps;
  const instanceId = await analyses.newest(projectId, sessionId);
  const session = instanceId === undefined ? undefined : await history.findInstance(projectId, instanceId);
  if (!session || instanceId === undefined) throw notFound('Session');
  if (session.status !== 'ended')
    throw new CallwayError('conflict', 'session_active', 'The session has not ended');
  const agent = await requireAnalyzing(deps, projectId);
  const results = await judgeSession(deps, { ...session, projectId, instanceId, agent }, signal);
  await analyses.save(instanceId, results);
  await history.updateCost(instanceId);
  return results;
}

/** @throws {CallwayError} 409 `analysis_not_configured` */
export async function requireAnalyzing({ agentOf }: AnalyzeDeps, projectId: string): Promise<AgentConfig> {
  const agent = await agentOf(projectId);
  if (agent?.analysis || agent?.postEvaluationConfig) return agent;
  const message =
    'The agent that callers get has neither an analysis nor criteria; set them, and publish where it is a draft';
  throw new CallwayError('conflict', 'analysis_not_configured', message);
}

/** Returns the analysis of the sessions of jobs as a kind of work. */
export function analysisWork(deps: AnalyzeDeps, rows: LeasedWork): WorkKind {
  const { analyses, history } = deps;
  return {
    name: 'analyses',
    rows,
    maxRunning: MAX_RUNNING,
    async run({ id, projectId }, signal) {
      const instanceId = await analyses.instanceOf(id);
      if (instanceId === undefined) return undefined;
      const [session, agent] = await Promise.all([
        history.findInstance(projectId, instanceId),
        deps.agentOf(projectId),
      ]);
      const results =
        session && agent
          ? await judgeSession(deps, { ...session, projectId, instanceId, agent }, signal)
          : {};
      await analyses.settle(id, results);
      await history.updateCost(instanceId);
      return undefined;
    },
  };
}
