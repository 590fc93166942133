import type { Logger } from 'pino';
import { requireVendorQuotas } from '../../agents/accounts/dayQuotas.ts';
import { releaseFor } from '../../agents/agents.ts';
import { createTemplateCache } from '../../agents/pathway/templates.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { cacheReleases } from '../../engine/session/releases.ts';
import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import type { ToolRunner } from '../../engine/tools/toolRunner.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import { redisTestQueue, startTestWorker } from '../../infra/redis/queues/testQueue.ts';
import { playChat } from '../../testing/play/playChat.ts';
import { PlaySlots } from '../../testing/runs/playSlots.ts';
import { startRunSweeps } from '../../testing/runs/runSweeps.ts';
import { runTestJob, type TestJobDeps } from '../../testing/runs/runTestJob.ts';
import { MAX_CONCURRENCY } from '../../testing/runs/testRun.ts';
import { TestRuns } from '../../testing/runs/testRuns.ts';
import type { NodeContext } from '../node/node.ts';

/** Chats that a node plays at once, of which a project alone gets half. They wait for models most of the time. */
const CHATS_AT_ONCE = 2 * MAX_CONCURRENCY;

/** Test runs; nodes of the role `worker` also play their chats. */
export function buildTests(
  node: NodeContext,
  models: ModelChoice,
  knowledge: KnowledgeRetriever,
  tools: ToolRunner,
  recordings: CallRecordings,
): TestRuns {
  const { config, storage, jobs, sandbox, client, shares, liveEvents, clock, makeId, lifecycle } = node;
  const { testRuns, testCases, releases } = storage.stores;
  const logger = node.logger.child({ part: 'tests' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const queue = redisTestQueue(jobs);
  if (config.ROLES.includes('worker')) {
    const player = {
      models,
      tools,
      client,
      templates: createTemplateCache(),
      knowledge,
      patterns: sandbox,
      shares,
      clock,
      makeId,
    };
    const onEnded = runEnded(logger, liveEvents);
    const deps: TestJobDeps = {
      testRuns,
      liveEvents,
      releases: cacheReleases(releases),
      play: (wanted, signal) => playChat(player, wanted, signal),
      slots: new PlaySlots(CHATS_AT_ONCE),
      clock,
      makeId,
      onEnded,
      onError,
    };
    startTestWorker(jobs, 'chat', (job, signal) => runTestJob(deps, job, signal), CHATS_AT_ONCE);
    lifecycle.onClose(startRunSweeps({ testRuns, queue, clock, onEnded, onError }));
  }
  return new TestRuns({
    testRuns,
    testCases,
    history: storage.stores.history,
    releaseFor: (projectId, draft) => releaseFor(storage.stores, projectId, draft),
    requireVendorQuotas: (projectId) => requireVendorQuotas(node.dayQuotas, projectId),
    queue,
    liveEvents,
    recordingUrl: (key) => recordings.url(key),
    clock,
    makeId,
    onError,
  });
}

/** Tells the log and those who watch that a run has ended. */
export function runEnded(logger: Logger, liveEvents: LiveEvents): TestJobDeps['onEnded'] {
  return (runId, projectId, status) => {
    logger.info({ runId, projectId, status }, 'test run ended');
    liveEvents.publish({ type: 'test.updated', projectId, data: { testRunId: runId, status } });
  };
}
