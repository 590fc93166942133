import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, test } from 'vitest';

import { MediaThread } from '../../../src/media/engine/mediaThread.ts';
import type { FromThread, ToThread } from '../../../src/media/engine/threadMessages.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

class FakeWorker extends EventEmitter {
  readonly received: ToThread['kind'][] = [];
  isTerminated = false;

  postMessage({ kind }: ToThread): void {
    this.received.push(kind);
  }

  async terminate(): Promise<number> {
    this.isTerminated = true;
    this.emit('exit', 1);
    return 1;
  }

  say(message: FromThread): void {
    this.emit('message', message);
  }
}

let clock: SimulatedClock;
let worker: FakeWorker;
let lost: string[];
let thread: MediaThread;
beforeEach(() => {
  clock = createSimulatedClock();
  worker = new FakeWorker();
  lost = [];
  thread = new MediaThread({
    clock,
    worker: worker as unknown as Worker,
    onEvent: () => undefined,
    onFault: () => undefined,
    onLost: (reason) => lost.push(reason),
  });
});

describe('MediaThread', () => {
  test('rejects all that waits for a thread that dies, statistics too', async () => {
    worker.say({ kind: 'ready' });
    await thread.untilReady();
    const waiting = [thread.request(1, 'quality', undefined), thread.statistics(), thread.statistics()];
    worker.emit('exit', 1);
    const results = await Promise.allSettled(waiting);
    expect(results).toEqual(
      Array(3).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'media_lost' }) }),
    );
    expect(lost).toEqual(['the media thread ended with code 1']);
    await expect(thread.statistics()).rejects.toMatchObject({ code: 'media_lost' });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('terminates a thread that does not start within two minutes', async () => {
    const started = thread.untilReady();
    clock.advance(120_000);
    await expect(started).rejects.toMatchObject({ code: 'media_lost' });
    expect([worker.isTerminated, lost]).toEqual([true, ['the media thread does not start']]);
  });

  test('terminates a thread that answers nothing for fifteen seconds', () => {
    worker.say({ kind: 'ready' });
    clock.advance(10_000);
    expect([worker.received, lost]).toEqual([['ping', 'ping'], []]);
    clock.advance(5_000);
    expect([worker.isTerminated, lost]).toEqual([true, ['the media thread does not answer']]);
  });

  test('terminates a thread that does not end within ten seconds, and has not lost it', async () => {
    worker.say({ kind: 'ready' });
    const ended = Promise.all([thread.end(), thread.end()]);
    expect([worker.received, thread.isAlive]).toEqual([['end'], false]);
    clock.advance(10_000);
    await ended;
    expect([worker.isTerminated, lost, clock.pendingTimers()]).toEqual([true, [], 0]);
  });
});
