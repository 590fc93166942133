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
import { playChat } from '../../testing/play/playChat.ts';
import { runTestLane, type TestLaneDeps } from '../../testing/runs/runTestLane.ts';
import { MAX_CONCURRENCY } from '../../testing/runs/testRun.ts';
import { TestRuns } from '../../testing/runs/testRuns.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { NodeContext } from '../node/node.ts';
import { announcer, startWork } from './work.ts';

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
  const { config, storage, sandbox, client, shares, liveEvents, clock, makeId } = node;
  const { testRuns, testCases, releases } = storage.stores;
  const logger = node.logger.child({ part: 'tests' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
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
    const deps: TestLaneDeps = {
      testRuns,
      liveEvents,
      releases: cacheReleases(releases),
      play: (wanted, signal) => playChat(player, wanted, signal),
      clock,
      makeId,
      onEnded: runEnded(logger, liveEvents),
      onError,
    };
    const runs: WorkKind = {
      name: 'test-runs',
      rows: storage.work['test-runs'],
      run: (work, signal) => runTestLane(deps, work, signal),
      maxRunning: CHATS_AT_ONCE,
    };
    startWork(node, runs, onError);
  }
  return new TestRuns({
    testRuns,
    testCases,
    history: storage.stores.history,
    releaseFor: (projectId, version) => releaseFor(storage.stores, projectId, version),
    requireVendorQuotas: (projectId) => requireVendorQuotas(node.dayQuotas, projectId),
    wake: {
      chat: announcer(node, 'test-runs', onError),
      phone: announcer(node, 'test-calls', onError),
    },
    liveEvents,
    recordingUrl: (key) => recordings.url(key),
    clock,
    makeId,
  });
}

/** Tells the log and those who watch that a run has ended. */
export function runEnded(logger: Logger, liveEvents: LiveEvents): TestLaneDeps['onEnded'] {
  return (runId, projectId, status) => {
    logger.info({ runId, projectId, status }, 'test run ended');
    liveEvents.publish({ type: 'test.updated', projectId, data: { testRunId: runId, status } });
  };
}
