import { expect, test } from 'vitest';
import { type NodeReport, type NodeReports, reportNode } from '../../../src/calls/nodes/nodeReport.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

test('A node reports the samples of its last hour, and none once it has stopped', async () => {
  const published: NodeReport[] = [];
  const clock = createSimulatedClock();
  let taken = 0;
  const stop = reportNode({
    reports: unused<NodeReports>('reports', {
      publish: async (report) => void published.push(structuredClone(report)),
      remove: async () => void published.splice(0),
    }),
    node: { nodeId: 'a', version: '1.0.0', roles: ['api'] },
    sample: async () => {
      taken += 1;
      if (taken === 2) throw new Error('no metrics');
      return {
        at: new Date(clock.now()).toISOString(),
        calls: taken,
        sessions: 0,
        queuedJobs: 0,
        delayMs: 0,
        turns: 0,
        turnLatencyMs: null,
        endedCalls: 0,
        failedCalls: 0,
        providerErrors: 0,
        failedWebhooks: 0,
        serverErrors: 0,
      };
    },
    state: () => ({ overloaded: ['rtp'], isDraining: false }),
    clock,
    onError: () => undefined,
  });
  while (taken < 242) await clock.advance(15_000);
  const last = published.at(-1);
  expect(published).toHaveLength(241);
  expect(last).toMatchObject({ nodeId: 'a', roles: ['api'], overloaded: ['rtp'] });
  expect(last?.samples).toHaveLength(240);
  expect(last?.samples[0]?.calls).toBe(3);
  await stop();
  await clock.advance(60_000);
  expect(published).toEqual([]);
});
