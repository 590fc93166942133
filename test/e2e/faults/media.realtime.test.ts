import { describe, expect, test, vi } from 'vitest';

import { ALL_EVENTS } from '../phone/support/webhooks.ts';
import { type Rig, sharedRig, type Talk } from './support/rig.ts';
import { report, runsAllFaults } from './support/table.ts';

const TIMEOUT = 300_000;
const CALLS = 6;
/** Long enough to detect a failed node and for another node to end its calls. */
const FINALISED_MS = 60_000;

const rig = sharedRig({ nodes: [['api', 'worker'], ['worker', 'voice'], ['media'], ['media'], ['media']] });
const skip = !runsAllFaults || Boolean(process.env.TEST_WITHOUT_SIP_PEERS);

async function carriedBy(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^callway_call_places_used (\d+)$/m.exec(text)?.[1]);
}

/** The calls of the failed node, which other nodes ended. */
async function lost({ line }: Rig, talks: readonly Talk[], count: number): Promise<Talk[]> {
  return await vi.waitFor(
    async () => {
      const shown = await Promise.all(talks.map(async (talk) => ({ talk, call: await line.shown(talk) })));
      const found = shown.filter(({ call }) => call.endReason === 'node_lost').map(({ talk }) => talk);
      expect(found).toHaveLength(count);
      for (const talk of found) expect(await line.finalized(talk)).toEqual(ALL_EVENTS);
      return found;
    },
    { timeout: FINALISED_MS, interval: 200 },
  );
}

describe.skipIf(skip)('media nodes during calls', { timeout: TIMEOUT }, () => {
  test('when one is killed and one freezes, other nodes finalize their calls, and the resumed node ends its own', async () => {
    const { cluster, talks, completed, line, webhooks } = rig();
    const [killed, frozen] = cluster.nodes.filter(({ roles }) => roles.includes('media'));
    if (!killed || !frozen) throw new Error('no media nodes');
    const running = await talks(CALLS, 14);
    const [ofKilled, ofFrozen] = [await carriedBy(killed.url), await carriedBy(frozen.url)];
    expect(ofKilled + ofFrozen).toBeGreaterThan(0);
    await killed.process.kill9();
    process.kill(frozen.process.pid, 'SIGSTOP');
    const sinceMs = performance.now();
    const gone = await lost(rig(), running, ofKilled + ofFrozen);
    const finalisedMs = Math.round(performance.now() - sinceMs);
    process.kill(frozen.process.pid, 'SIGCONT');
    await expect.poll(() => carriedBy(frozen.url), { timeout: 60_000 }).toBe(0);
    await completed(running.filter((talk) => !gone.includes(talk)));
    for (const talk of gone) {
      expect(webhooks.of(talk.sessionId).map(({ event }) => event)).toEqual(ALL_EVENTS);
      expect(await line.shown(talk)).toMatchObject({ status: 'failed', endReason: 'node_lost' });
      expect((await line.order({ toNumber: talk.number })).status).toBe(202);
    }
    report({
      what: 'A media node dies, another freezes',
      done: `SIGKILL with ${ofKilled} calls, SIGSTOP with ${ofFrozen}, of ${CALLS}; SIGCONT later`,
      seen: `finalised by others after ${finalisedMs} ms, 4 events each, once; what had thawed hung up its calls; numbers free; the other ${CALLS - gone.length} calls completed`,
    });
  });

  test('when the only voice node dies, its call ends in order', async () => {
    const { cluster, people, heard, line } = rig();
    const extra = cluster.nodes.find(({ roles }) => roles.includes('voice'));
    if (!extra) throw new Error('no voice node');
    const number = people.answering(6);
    const call = await line.call({ toNumber: number });
    await heard([{ ...call, number, keys: 6 }], 0, 2);
    const diedMs = performance.now();
    await extra.process.kill9();
    await extra.restart();
    const shown = await line.over(call);
    expect(await line.finalized(call)).toEqual(ALL_EVENTS);
    report({
      what: 'The only voice node dies',
      done: 'SIGKILL in the middle of a call, started again at once',
      seen: `the call ended ${shown.status}, ${shown.endReason}, ${Math.round(performance.now() - diedMs)} ms later; 4 events, once`,
    });
  });
});
