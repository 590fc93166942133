import { beforeEach, describe, expect, test } from 'vitest';

import {
  type VoiceThreadFault,
  type VoiceThreadStart,
  VoiceThreads,
} from '../../../src/voice/threads/voiceThreads.ts';
import { FakeThread } from '../../support/fakeThread.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

/** A thread that ends when it is told to. */
class FakeWorker extends FakeThread {
  readonly start: VoiceThreadStart;

  constructor(start: VoiceThreadStart) {
    super();
    this.start = start;
    this.on('ending', () => this.emit('exit', 0));
  }

  listen(port: number, socketPath?: string): void {
    this.ready({ port, socketPath });
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

let clock: SimulatedClock;
let workers: FakeWorker[];
let faults: VoiceThreadFault[];
let reports: string[];
let threads: VoiceThreads<string>;
beforeEach(() => {
  clock = createSimulatedClock();
  [workers, faults, reports] = [[], [], []];
  threads = new VoiceThreads<string>({
    clock,
    nodeId: 'node',
    maxThreads: 2,
    startThread(start) {
      const worker = new FakeWorker(start);
      workers.push(worker);
      return worker.worker;
    },
    reports: { log: (line: string) => reports.push(line) },
    onFault: (fault) => faults.push(fault),
  });
});
const worker = (index: number) => {
  const found = workers[index];
  if (!found) throw new Error(`there is no thread ${index}`);
  return found;
};
const running = () => threads.running.map(({ number, nodeId, port }) => ({ number, nodeId, port }));

async function startOne(): Promise<FakeWorker> {
  const started = threads.start();
  worker(0).listen(4001);
  await started;
  return worker(0);
}

describe('VoiceThreads', () => {
  test('starts one thread, and the others when each has sixteen sessions, up to the limit', async () => {
    const first = await startOne();
    first.notify('sessions', 15);
    expect(workers).toHaveLength(1);
    first.notify('sessions', 16);
    first.notify('sessions', 17);
    expect(workers).toHaveLength(2);
    expect(running()).toEqual([{ number: 1, nodeId: 'node/voice-1', port: 4001 }]);
    worker(1).listen(4002);
    await settle();
    worker(1).notify('sessions', 16);
    expect([workers.length, threads.sessions]).toEqual([2, 33]);
    expect(running()[1]).toEqual({ number: 2, nodeId: 'node/voice-2', port: 4002 });
  });

  test('fails to start with the reason of its first thread', async () => {
    const started = threads.start();
    worker(0).emit('error', new Error('no database'));
    worker(0).emit('exit', 1);
    await expect(started).rejects.toThrow('no database');
    await threads.close();
    clock.advance(10_000);
    expect(workers).toHaveLength(1);
  });

  test('replaces a thread that dies, under another name, and registers the new one', async () => {
    const first = await startOne();
    const registered = threads.register();
    first.answer('register');
    await registered;
    first.notify('sessions', 3);
    clock.advance(2000);
    first.emit('error', Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
    first.emit('exit', 1);
    expect(faults).toMatchObject([{ nodeId: 'node/voice-1', sessions: 3 }]);
    expect([threads.sessions, running()]).toEqual([0, []]);
    expect(worker(1).start).toEqual({ number: 1, nodeId: 'node/voice-2', isReplacement: true });
    worker(1).listen(4002);
    await settle();
    expect(worker(1).received).toEqual([['register']]);
  });

  test('replaces a thread that dies at once no sooner than after a second', async () => {
    const first = await startOne();
    first.emit('exit', 1);
    clock.advance(999);
    expect(workers).toHaveLength(1);
    clock.advance(1);
    expect(workers).toHaveLength(2);
  });

  test('terminates a thread that says nothing for fifteen seconds, and keeps one that reports its delay', async () => {
    const first = await startOne();
    const delay = { waitMs: 1, p99Ms: 3, maxMs: 9 };
    for (let second = 0; second < 30; second++) {
      clock.advance(1000);
      first.notify('delay', delay);
    }
    expect([first.isTerminated, threads.running[0]?.delay]).toEqual([false, delay]);
    clock.advance(4_000);
    // As late as its report.
    expect(threads.running[0]?.delay).toEqual({ waitMs: 3_000, p99Ms: 3_000, maxMs: 3_000 });
    clock.advance(11_000);
    expect([first.isTerminated, workers.length]).toEqual([true, 2]);
    expect(faults[0]?.reason).toBe('the voice thread does not answer');
  });

  test('are told of the node’s overload, those that start later too', async () => {
    const first = await startOne();
    first.notify('sessions', 16);
    threads.tellOverload(true);
    worker(1).listen(4002);
    await settle();
    const told = ['tellOverload', true];
    expect([first.received, worker(1).received]).toEqual([[told], [told]]);
    threads.tellOverload(false);
    expect(first.received.at(-1)).toEqual(['tellOverload', false]);
  });

  test('tell the thread of a node id the ticket of a call, and no others', async () => {
    const first = await startOne();
    first.listen(4001, '/tmp/a/socket');
    expect(threads.admit('node/voice-1', 'ticket', 'a call')?.socketPath).toBe('/tmp/a/socket');
    expect(first.received).toEqual([['admit', 'ticket', 'a call']]);
    first.emit('exit', 1);
    expect(['node/voice-1', 'other/voice-1'].map((id) => threads.admit(id, 'ticket', 'a call'))).toEqual([
      undefined,
      undefined,
    ]);
    expect(first.received).toHaveLength(1);
  });

  test('registers no thread that starts while they drain', async () => {
    const first = await startOne();
    const registered = threads.register();
    first.answer('register');
    await registered;
    const drained = threads.drain(5000);
    first.notify('sessions', 16);
    worker(1).listen(4002);
    await settle();
    expect(worker(1).received).toEqual([]);
    first.answer('drain');
    await drained;
  });

  test('drains all threads, then ends them, and passes on what they report', async () => {
    const first = await startOne();
    first.notify('log', 'a line');
    let isDrained = false;
    const drained = threads.drain(5000).then(() => {
      isDrained = true;
    });
    await settle();
    expect([isDrained, first.received]).toEqual([false, [['drain', 5000]]]);
    expect(running()).toHaveLength(1);
    first.answer('drain');
    await drained;
    await Promise.all([threads.close(), threads.close()]);
    expect([first.received.at(-1), faults, reports]).toEqual([['end'], [], ['a line']]);
    expect(clock.pendingTimers()).toBe(0);
  });
});
