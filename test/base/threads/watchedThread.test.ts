import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { systemThreadId, threadCpuMs } from '../../../src/base/threads/threadCpuTime.ts';
import { serveThread, WatchedThread } from '../../../src/base/threads/watchedThread.ts';
import { FakeThread } from '../../support/fakeThread.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

interface Methods {
  ask(): string;
  end(): void;
}

let clock: SimulatedClock;
let fake: FakeThread;
let cpuMs: number | undefined;
let lost: { reason: string; afterMs: number } | undefined;
let thread: WatchedThread<Methods, string>;
beforeEach(() => {
  clock = createSimulatedClock();
  const startMs = clock.monotonicMs();
  fake = new FakeThread();
  lost = undefined;
  thread = new WatchedThread({
    name: 'thread',
    worker: fake.worker,
    clock,
    cpuMs: () => cpuMs,
    toError: (reason) => Object.assign(new Error(reason), { code: 'lost' }),
    onLost: (reason) => {
      lost = { reason, afterMs: clock.monotonicMs() - startMs };
    },
  });
});

describe('WatchedThread', () => {
  test.each([
    { what: 'runs all the time', usedMs: 1000, untilS: 15 },
    { what: 'runs half of the time', usedMs: 500, untilS: 15 },
    { what: 'gets a tenth of a processor', usedMs: 100, untilS: 35 },
    { what: 'is starved', usedMs: 50, untilS: 65 },
    { what: 'waits for something that never comes', usedMs: 0, untilS: 65 },
    { what: 'has an unknown CPU time', usedMs: undefined, untilS: 15 },
  ])('terminates a silent thread that $what after $untilS s', ({ usedMs, untilS }) => {
    fake.ready('', '1');
    for (let second = 0; second < 70; second++) {
      cpuMs = usedMs === undefined ? undefined : second * usedMs;
      clock.advance(1000);
    }
    expect(lost).toEqual({ reason: 'the thread does not answer', afterMs: untilS * 1000 });
    expect([fake.isTerminated, clock.pendingTimers()]).toEqual([true, 0]);
  });

  test('keeps a thread that answers late, however much it has run', () => {
    fake.ready('', '1');
    for (let second = 0; second < 300; second++) {
      cpuMs = second * 1000;
      clock.advance(1000);
      if (second % 9 === 0) fake.emit('message', { kind: 'pong' });
    }
    expect([lost, fake.pings]).toEqual([undefined, 60]);
  });

  test('rejects all calls to a thread that dies', async () => {
    fake.ready('words');
    expect(await thread.untilReady()).toBe('words');
    const waiting = [thread.call.ask(), thread.call.ask()];
    fake.emit('exit', 1);
    const results = await Promise.allSettled([...waiting, thread.call.ask()]);
    expect(results).toEqual(
      Array(3).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'lost' }) }),
    );
    expect([lost?.reason, clock.pendingTimers()]).toEqual(['the thread ended with code 1', 0]);
  });

  test('terminates a thread that does not start within two minutes', async () => {
    clock.advance(120_000);
    await expect(thread.untilReady()).rejects.toMatchObject({ code: 'lost' });
    expect([fake.isTerminated, lost?.reason]).toEqual([true, 'the thread does not start']);
  });

  test('terminates a thread that does not end within ten seconds, and has not lost it', async () => {
    fake.ready();
    const ended = Promise.all([thread.end(), thread.end()]);
    expect([fake.received, thread.isAlive]).toEqual([[['end']], false]);
    clock.advance(10_000);
    await ended;
    expect([fake.isTerminated, lost, clock.pendingTimers()]).toEqual([true, undefined, 0]);
  });

  test('answers the pings of a thread that serves, although a method runs', async () => {
    const { port1, port2 } = new MessageChannel();
    onTestFinished(() => port1.close());
    const messages: unknown[] = [];
    port1.on('message', (message) => void messages.push(message));
    serveThread(port2, { ask: () => new Promise(() => undefined) }, 'words');
    port1.postMessage({ id: 1, name: 'ask', args: [] });
    port1.postMessage({ kind: 'ping' });
    await vi.waitFor(() =>
      expect(messages).toMatchObject([{ kind: 'ready', value: 'words' }, { kind: 'pong' }]),
    );
  });
});

test('The CPU time of a thread is that of its own computations', async () => {
  if (systemThreadId() === undefined) return expect(threadCpuMs('1')).toBeUndefined();
  const busy = new Worker(
    `const { parentPort } = require('node:worker_threads');
    const id = require('node:fs').readlinkSync('/proc/thread-self').split('/').at(-1);
    for (const start = process.cpuUsage().user; process.cpuUsage().user - start < 300_000; );
    parentPort.postMessage(id);
    parentPort.on('message', () => undefined);`,
    { eval: true },
  );
  onTestFinished(async () => void (await busy.terminate()));
  const [id] = (await once(busy, 'message')) as [string];
  const ranMs = threadCpuMs(id) ?? Number.NaN;
  expect(ranMs).toBeGreaterThan(100);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((threadCpuMs(id) ?? Number.NaN) - ranMs).toBeLessThan(50);
  await busy.terminate();
  expect(threadCpuMs(id)).toBeUndefined();
});
