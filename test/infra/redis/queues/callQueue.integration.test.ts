import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { CallQueue, JobResult } from '../../../../src/calls/setup/callQueue.ts';
import { redisCallQueue } from '../../../../src/infra/redis/queues/callQueue.ts';
import { type JobQueues, openJobQueues } from '../../../../src/infra/redis/queues/jobQueues.ts';
import { useCluster } from '../support/servers.ts';

const DONE: JobResult = { done: true };

describe('The call queue', () => {
  const cluster = useCluster();
  let jobs: JobQueues[];
  let queues: [CallQueue, CallQueue];
  beforeEach(() => {
    jobs = [1, 2].map(() => openJobQueues({ url: cluster.url, onError: () => undefined }));
    queues = jobs.map((node) => redisCallQueue(node)) as [CallQueue, CallQueue];
  });
  afterEach(async () => {
    await Promise.all(jobs.map((node) => node.close()));
  });

  test('gives each call to one of two nodes, once, however often it was added', async () => {
    const taken: string[] = [];
    const ids = Array.from({ length: 20 }, (_, index) => `each-${index}`);
    for (const id of ids) await queues[0].add(id, 'p');
    for (const id of ids) await queues[1].add(id, 'p');
    const work = async (callId: string) => {
      taken.push(callId);
      await delay(5);
      return DONE;
    };
    for (const queue of queues) await queue.process(work, 3);
    await vi.waitFor(() => expect(taken.length).toBeGreaterThanOrEqual(20), { timeout: 10_000 });
    await delay(100);
    expect([...taken].sort()).toEqual([...ids].sort());
  });

  test('runs a call again after the delay that its handler returns', async () => {
    const times: number[] = [];
    await queues[0].process(async () => {
      times.push(performance.now());
      return times.length < 3 ? { again: true, afterMs: 150 } : DONE;
    }, 1);
    await queues[1].add('again', 'p');
    await queues[1].add('again', 'p');
    await vi.waitFor(() => expect(times).toHaveLength(3), { timeout: 10_000 });
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThan(140);
    expect(third - second).toBeGreaterThan(140);
  });

  test('does not run a removed call, and accepts a failed one again', async () => {
    const taken: string[] = [];
    await queues[0].add('removed', 'p');
    await queues[0].remove('removed');
    await queues[0].remove('never there');
    await queues[0].add('fails', 'p');
    await queues[1].process(async (callId) => {
      taken.push(callId);
      if (taken.length === 1) throw new Error('no');
      return DONE;
    }, 1);
    await vi.waitFor(() => expect(taken).toEqual(['fails']), { timeout: 10_000 });
    await vi.waitFor(
      async () => {
        await queues[0].add('fails', 'p');
        expect(taken.length).toBeGreaterThan(1);
      },
      { timeout: 10_000 },
    );
    // The last attempts may have added it more often.
    await queues[0].remove('fails');
    expect(new Set(taken)).toEqual(new Set(['fails']));
  });

  test('stops fetching calls while paused; running ones continue', async () => {
    const taken: string[] = [];
    const begun = new AbortController();
    const worker = await queues[0].process(async (callId) => {
      taken.push(callId);
      await delay(5_000, undefined, { signal: begun.signal }).catch(() => undefined);
      taken.push(`${callId} done`);
      return DONE;
    }, 2);
    await queues[0].add('begun', 'p');
    await vi.waitFor(() => expect(taken).toEqual(['begun']), { timeout: 10_000 });
    await worker.pause();
    await queues[0].add('waits', 'p');
    await delay(300);
    expect(taken).toEqual(['begun']);
    begun.abort();
    await worker.close();
    expect(taken).toEqual(['begun', 'begun done']);
    await queues[1].process(async (callId) => {
      taken.push(callId);
      return DONE;
    }, 1);
    await vi.waitFor(() => expect(taken.at(-1)).toBe('waits'), { timeout: 10_000 });
  });
});
