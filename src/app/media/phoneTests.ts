import { randomBytes } from 'node:crypto';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import { cacheReleases } from '../../engine/session/releases.ts';
import type { ModelChoice } from '../../engine/turn/turnContext.ts';
import { TestCalls } from '../../telephony/trunks/testCalls.ts';
import { playPhone } from '../../testing/phone/playPhone.ts';
import { runTestLane, type TestLaneDeps } from '../../testing/runs/runTestLane.ts';
import { MAX_CONCURRENCY } from '../../testing/runs/testRun.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { NodeContext } from '../node/node.ts';
import { runEnded } from '../services/tests.ts';
import { startWork } from '../services/work.ts';
import type { Config } from '../settings/config.ts';
import { LOOPBACK } from '../simulator/carrier.ts';
import { TestCallers } from '../simulator/testCallers.ts';
import type { BuiltTelephony } from './telephony.ts';

/** The rest of the node's calls are for callers who are no test. */
const SHARE_OF_TESTS = 0.75;
/** Phones of a node at once, of which a project alone gets half. */
const MAX_PHONES = 2 * MAX_CONCURRENCY;
const SECRET_BYTES = 24;

/** @returns The test calls; undefined where a drachtio-server takes the calls. */
export function buildTestCalls(
  { SIP_HOST }: Config,
  sipPort: number | undefined,
  clock: Clock,
): TestCalls | undefined {
  if (sipPort === undefined) return undefined;
  const address = ['0.0.0.0', '::'].includes(SIP_HOST) ? LOOPBACK : SIP_HOST;
  const makeSecret = () => `test-${randomBytes(SECRET_BYTES).toString('hex')}`;
  return new TestCalls({ address, sipPort, clock, makeSecret });
}

/** Plays phone cases, while live calls leave room for them. */
export function startPhoneTests(
  node: NodeContext,
  models: ModelChoice,
  capacity: NodeCapacity,
  testCalls: TestCalls | undefined,
  setKnownPeers: BuiltTelephony['setKnownPeers'],
): void {
  const { storage, sandbox, callRefusal, liveEvents, clock, makeId, lifecycle } = node;
  const { testRuns, releases, calls, history } = storage.stores;
  const logger = node.logger.child({ part: 'tests' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const callers = testCalls && new TestCallers({ testCalls, setKnownPeers, clock, logger });
  lifecycle.onClose(async () => callers?.close());
  const deps: TestLaneDeps = {
    testRuns,
    releases: cacheReleases(releases),
    async play(wanted, signal) {
      if (!callers) throw noCallers();
      const player = { callers, models, patterns: sandbox, calls, history, clock, makeId };
      return await playPhone(player, wanted, signal);
    },
    clock,
    makeId,
    liveEvents,
    onEnded: runEnded(logger, liveEvents),
    onError,
  };
  const mostCalls = Math.ceil(capacity.limit * SHARE_OF_TESTS);
  let playing = 0;
  // Stops before the node's calls are waited for.
  const phones: WorkKind = {
    name: 'test-calls',
    rows: storage.work['test-calls'],
    async run(work, signal) {
      playing += 1;
      return await runTestLane(deps, work, signal).finally(() => {
        playing -= 1;
      });
    },
    maxRunning: Math.min(MAX_PHONES, mostCalls),
    room: () => (callRefusal() ? 0 : mostCalls - Math.max(playing, capacity.inUse)),
  };
  startWork(node, phones, onError);
}

function noCallers(): CallwayError {
  return new CallwayError(
    'unprocessable',
    'phone_tests_unavailable',
    'Phone cases need the embedded SIP server; this installation uses a drachtio-server',
  );
}
