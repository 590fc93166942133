import type { Logger } from 'pino';
import { type DayQuotaDeps, requireVendorQuotas } from '../../agents/accounts/dayQuotas.ts';
import { releaseFor } from '../../agents/agents.ts';
import { createTemplateCache } from '../../agents/pathway/templates.ts';
import type { PatternMatcher } from '../../agents/schemaChecker.ts';
import type { ComputeShares } from '../../base/async/computeShares.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { cacheReleases } from '../../engine/session/releases.ts';
import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import { createToolRunner, type ToolRunnerDeps } from '../../engine/tools/toolRunner.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { JobQueues } from '../../infra/redis/queues/jobQueues.ts';
import { redisTestQueue, startTestWorker } from '../../infra/redis/queues/testQueue.ts';
import { playChat } from '../../testing/play/playChat.ts';
import { PlaySlots } from '../../testing/runs/playSlots.ts';
import { startRunSweeps } from '../../testing/runs/runSweeps.ts';
import { runTestJob, type TestJob, type TestJobDeps } from '../../testing/runs/runTestJob.ts';
import { MAX_CONCURRENCY } from '../../testing/runs/testRun.ts';
import { TestRuns } from '../../testing/runs/testRuns.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';

/** Chats that a node plays at once, of which a project alone gets half. They wait for models most of the time. */
const CHATS_AT_ONCE = 2 * MAX_CONCURRENCY;

export interface TestParts {
  readonly config: Config;
  readonly storage: ReturnType<typeof createStorage>;
  readonly dayQuotas: DayQuotaDeps;
  readonly jobs: JobQueues;
  readonly models: ModelChoice;
  readonly knowledge: KnowledgeRetriever;
  readonly mcpServers: ToolRunnerDeps['mcpServers'];
  readonly client: ToolRunnerDeps['client'];
  readonly sandbox: ToolRunnerDeps['schemas'] & PatternMatcher;
  readonly shares: ComputeShares;
  /** Signs a URL of a recording. */
  readonly recordingUrl: (key: string) => string;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly liveEvents: LiveEvents;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** Test runs; nodes of the role `worker` also play their chats. */
export function buildTests(parts: TestParts): TestRuns {
  const { config, storage, jobs, sandbox, liveEvents, clock, makeId, lifecycle } = parts;
  const { testRuns, testCases, releases } = storage.stores;
  const logger = parts.logger.child({ part: 'tests' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const queue = redisTestQueue(jobs);
  if (config.ROLES.includes('worker')) {
    const templates = createTemplateCache();
    const tools = createToolRunner({ ...parts, templates, schemas: sandbox });
    const player = { ...parts, tools, templates, patterns: sandbox };
    const onEnded = runEnded({ logger, liveEvents });
    const deps = { testRuns, liveEvents, releases: cacheReleases(releases), clock, makeId, onEnded, onError };
    const play = (...wanted: Parameters<typeof playChat> extends [unknown, ...infer Rest] ? Rest : never) =>
      playChat(player, ...wanted);
    const slots = new PlaySlots(CHATS_AT_ONCE);
    const work = (job: TestJob, signal: AbortSignal) => runTestJob({ ...deps, play, slots }, job, signal);
    startTestWorker(jobs, 'chat', work, CHATS_AT_ONCE);
    lifecycle.onClose(startRunSweeps({ testRuns, queue, clock, onEnded, onError }));
  }
  return new TestRuns({
    testRuns,
    testCases,
    history: storage.stores.history,
    releaseFor: (projectId, draft) => releaseFor(storage.stores, projectId, draft),
    requireVendorQuotas: (projectId) => requireVendorQuotas(parts.dayQuotas, projectId),
    queue,
    liveEvents,
    recordingUrl: parts.recordingUrl,
    clock,
    makeId,
    onError,
  });
}

/** Tells the log and those who watch that a run has ended. */
export function runEnded({
  logger,
  liveEvents,
}: Pick<TestParts, 'logger' | 'liveEvents'>): TestJobDeps['onEnded'] {
  return (runId, projectId, status) => {
    logger.info({ runId, projectId, status }, 'test run ended');
    liveEvents.publish({ type: 'test.updated', projectId, data: { testRunId: runId, status } });
  };
}
