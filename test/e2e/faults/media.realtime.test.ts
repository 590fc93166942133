import { describe, expect, test, vi } from 'vitest';

import { ALL_EVENTS } from '../phone/support/webhooks.ts';
import { type Rig, type RunningCall, sharedRig } from './support/rig.ts';
import { report, requiresAllFaults } from './support/table.ts';

const TIMEOUT = 300_000;
const CALLS = 6;
/** Long enough to detect a failed node and for another node to end its calls. */
const FINALISED_MS = 60_000;

const rig = sharedRig({ nodes: [['api', 'worker'], ['worker', 'voice'], ['media'], ['media'], ['media']] });
async function carriedBy(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^callway_call_places_used (\d+)$/m.exec(text)?.[1]);
}

/** The calls of the failed node, which other nodes ended. */
async function lost({ line }: Rig, running: readonly RunningCall[], count: number): Promise<RunningCall[]> {
  return await vi.waitFor(
    async () => {
      const shown = await Promise.all(
        running.map(async (call) => ({ call, endReason: (await line.readCall(call)).endReason })),
      );
      const found = shown.filter(({ endReason }) => endReason === 'node_lost').map(({ call }) => call);
      expect(found).toHaveLength(count);
      for (const call of found) expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
      return found;
    },
    { timeout: FINALISED_MS, interval: 200 },
  );
}

describe('media nodes during calls', { ...requiresAllFaults, timeout: TIMEOUT }, () => {
  test('when one is killed and one freezes, other nodes finalize their calls, and the resumed node ends its own', async () => {
    const { cluster, startCalls, waitForCompletion, line, webhooks } = rig();
    const running = await startCalls(CALLS, 14);
    // Which nodes take the calls is chance: a busy machine may wake one alone in time.
    const [most, second] = (
      await Promise.all(
        cluster.nodes
          .filter(({ roles }) => roles.includes('media'))
          .map(async (node) => ({ node, callCount: await carriedBy(node.url) })),
      )
    ).sort((one, other) => other.callCount - one.callCount);
    if (!most || !second) throw new Error('no media nodes');
    const { node: killed, callCount: ofKilled } = most;
    const { node: frozen, callCount: ofFrozen } = second;
    expect(ofKilled).toBeGreaterThan(0);
    await killed.process.kill();
    process.kill(frozen.process.pid, 'SIGSTOP');
    const sinceMs = performance.now();
    const gone = await lost(rig(), running, ofKilled + ofFrozen);
    const finalisedMs = Math.round(performance.now() - sinceMs);
    process.kill(frozen.process.pid, 'SIGCONT');
    await expect.poll(() => carriedBy(frozen.url), { timeout: 60_000 }).toBe(0);
    await waitForCompletion(running.filter((call) => !gone.includes(call)));
    for (const call of gone) {
      expect(webhooks.forSession(call.sessionId).map(({ event }) => event)).toEqual(ALL_EVENTS);
      expect(await line.readCall(call)).toMatchObject({ status: 'failed', endReason: 'node_lost' });
      expect((await line.requestCall({ toNumber: call.number })).status).toBe(202);
    }
    report({
      what: 'A media node dies, another freezes',
      done: `SIGKILL with ${ofKilled} calls, SIGSTOP with ${ofFrozen}, of ${CALLS}; SIGCONT later`,
      seen: `finalised by others after ${finalisedMs} ms, 4 events each, once; what had thawed hung up its calls; numbers free; the other ${CALLS - gone.length} calls completed`,
    });
  });

  test('when the only voice node dies, its call ends in order', async () => {
    const { cluster, people, waitForAnswers, line } = rig();
    const extra = cluster.nodes.find(({ roles }) => roles.includes('voice'));
    if (!extra) throw new Error('no voice node');
    const number = people.answering(6);
    const call = await line.call({ toNumber: number });
    await waitForAnswers([{ ...call, number, digitCount: 6 }], 0, 2);
    const diedMs = performance.now();
    await extra.process.kill();
    await extra.restart();
    const shown = await line.waitForEnd(call);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    report({
      what: 'The only voice node dies',
      done: 'SIGKILL in the middle of a call, started again at once',
      seen: `the call ended ${shown.status}, ${shown.endReason}, ${Math.round(performance.now() - diedMs)} ms later; 4 events, once`,
    });
  });
});
