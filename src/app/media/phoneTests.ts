import { randomBytes } from 'node:crypto';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import { cacheReleases } from '../../engine/session/releases.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { startTestWorker } from '../../infra/redis/queues/testQueue.ts';
import { TestCalls } from '../../telephony/trunks/testCalls.ts';
import { playPhone } from '../../testing/phone/playPhone.ts';
import type { PlayRequest } from '../../testing/play/runPlay.ts';
import { PlaySlots } from '../../testing/runs/playSlots.ts';
import { runTestJob, type TestJob } from '../../testing/runs/runTestJob.ts';
import { MAX_CONCURRENCY } from '../../testing/runs/testRun.ts';
import type { NodeContext } from '../node/node.ts';
import { runEnded } from '../services/tests.ts';
import type { Config } from '../settings/config.ts';
import { LOOPBACK } from '../simulator/carrier.ts';
import { TestCallers } from '../simulator/testCallers.ts';
import type { BuiltTelephony } from './telephony.ts';

/** The rest of the node's calls are for callers who are no test. */
const SHARE_OF_TESTS = 0.75;
/** Phones of a node at once, of which a project alone gets half. */
const MAX_PHONES = 2 * MAX_CONCURRENCY;
const BUSY_RETRY_MS = 500;
const HAND_OVER_MS = 100;
const SECRET_BYTES = 24;

/** @returns The test calls; undefined where a drachtio-server takes the calls. */
export function buildTestCalls(
  { SIP_HOST }: Pick<Config, 'SIP_HOST'>,
  sipPort: number | undefined,
  clock: Clock,
): TestCalls | undefined {
  if (sipPort === undefined) return undefined;
  const address = ['0.0.0.0', '::'].includes(SIP_HOST) ? LOOPBACK : SIP_HOST;
  const makeSecret = () => `test-${randomBytes(SECRET_BYTES).toString('hex')}`;
  return new TestCalls({ address, sipPort, clock, makeSecret });
}

/** Takes jobs with phone cases, while live calls leave room for them. */
export function startPhoneTests(
  node: NodeContext,
  models: ModelChoice,
  capacity: NodeCapacity,
  testCalls: TestCalls | undefined,
  setKnownPeers: BuiltTelephony['setKnownPeers'],
): void {
  const { storage, jobs, sandbox, callRefusal, liveEvents, clock, makeId, lifecycle } = node;
  const { testRuns, releases, calls, history } = storage.stores;
  const logger = node.logger.child({ part: 'tests' });
  const callers = testCalls && new TestCallers({ testCalls, setKnownPeers, clock, logger });
  const mostPhones = Math.min(MAX_PHONES, Math.ceil(capacity.limit * SHARE_OF_TESTS));
  const deps = {
    testRuns,
    releases: cacheReleases(releases),
    play: async (play: PlayRequest, signal: AbortSignal) => {
      if (!callers) throw noCallers();
      const player = { callers, models, patterns: sandbox, calls, history, clock, makeId };
      return await playPhone(player, play, signal);
    },
    slots: new PlaySlots(mostPhones),
    clock,
    makeId,
    liveEvents,
    onEnded: runEnded(logger, liveEvents),
    onError: (error: unknown, what: string) => logger.warn({ err: error }, what),
  };
  const stopping = new AbortController();
  let playing = 0;
  const isBusy = () => Math.max(playing, capacity.inUse) >= capacity.limit * SHARE_OF_TESTS;
  const work = async (job: TestJob, signal: AbortSignal) => {
    if (isBusy() || callRefusal()) return { afterMs: BUSY_RETRY_MS };
    playing += 1;
    try {
      return await runTestJob(deps, job, AbortSignal.any([signal, stopping.signal]));
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      return { afterMs: HAND_OVER_MS };
    } finally {
      playing -= 1;
    }
  };
  const worker = startTestWorker(jobs, 'phone', work, mostPhones);
  // Before the node's calls are waited for.
  lifecycle.onClose(async () => {
    stopping.abort(new Error('the service is stopping'));
    await worker.close();
    await callers?.close();
  });
}

function noCallers(): CallwayError {
  return new CallwayError(
    'unprocessable',
    'phone_tests_unavailable',
    'Phone cases need the embedded SIP server; this installation uses a drachtio-server',
  );
}
