import { describe, expect, test, vi } from 'vitest';

import { requiresSipPeers } from '../../../support/skips.ts';
import { SLOW } from '../../phone/support/line.ts';
import type { Rig } from '../support/rig.ts';
import { report, runsAllFaults } from '../support/table.ts';

const TIMEOUT = 240_000;
const CALLS = runsAllFaults ? 4 : 2;

interface Fault {
  readonly what: string;
  readonly done: string;
  away(rig: Rig): unknown;
  back(rig: Rig): unknown;
}

const KILLED: readonly Fault[] = [
  {
    what: 'Redis away',
    done: 'SIGKILL, started again',
    away: ({ redis }) => redis.stop('kill9'),
    back: ({ redis }) => redis.start(),
  },
  {
    what: 'Postgres away',
    done: 'SIGQUIT, started again',
    away: ({ postgres }) => postgres.stop('immediate'),
    back: ({ postgres }) => postgres.start(),
  },
];
const SILENT: readonly Fault[] = [
  {
    what: 'Redis frozen',
    done: 'SIGSTOP, SIGCONT',
    away: ({ redis }) => redis.pause(),
    back: ({ redis }) => redis.resume(),
  },
  {
    what: 'Postgres cut off',
    done: 'nothing passed on to it or from it, then all of it',
    away: ({ databaseProxy }) => databaseProxy.pause(),
    back: ({ databaseProxy }) => databaseProxy.resume(),
  },
];

/** Redis and Postgres go and come back. */
export function testStores(rig: () => Rig): void {
  describe('calls continue, new calls get 503 and nothing is lost:', {
    ...requiresSipPeers,
    timeout: TIMEOUT,
  }, () => {
    test.each([
      ['Redis and Postgres die, one after the other, and come back', KILLED],
      ...(runsAllFaults ? [['Redis and Postgres say nothing for a while', SILENT] as const] : []),
    ] as const)('%s', async (_name, faults) => {
      const { line, startCalls, waitForAnswers, waitForCompletion, people } = rig();
      const running = await startCalls(CALLS, runsAllFaults ? 16 : 5);
      const times: number[] = [];
      for (const fault of faults) {
        await fault.away(rig());
        const sinceMs = performance.now();
        await vi.waitFor(async () => expect((await line.requestCall()).status).toBe(503), SLOW);
        // An answer that was being spoken needs neither store.
        await waitForAnswers(running, sinceMs + 1000, 2);
        times.push(Math.round(performance.now() - sinceMs));
        await fault.back(rig());
        await vi.waitFor(async () => expect((await line.api('GET', '/agent')).status).toBe(200), SLOW);
      }
      const silenceMs = await waitForCompletion(running);
      faults.forEach(({ what, done }, index) => {
        report({
          what,
          done: `${CALLS} calls talked; ${done}; away for ${times[index]} ms`,
          seen: `new calls 503; longest silence of the agent ${silenceMs} ms; all turns kept, all completed, 4 events each, once`,
        });
      });
      const number = people.answering(1);
      const again = await vi.waitFor(() => line.call({ toNumber: number }), SLOW);
      expect(await line.waitForEnd(again)).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
    });
  });
}
