import { beforeEach, expect, test } from 'vitest';
import { ThreadPool } from '../../../src/base/threads/threadPool.ts';
import { FakeThread } from '../../support/fakeThread.ts';

interface Methods {
  work(what: string): string;
}

class PooledFake extends FakeThread {
  isRef = true;
  ref(): void {
    this.isRef = true;
  }
  unref(): void {
    this.isRef = false;
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;
let threads: PooledFake[];
const pool = (terminatesAborted = false) =>
  new ThreadPool<Methods>({
    size: 2,
    startThread() {
      const thread = new PooledFake();
      threads.push(thread);
      return thread.worker;
    },
    terminatesAborted,
  });
beforeEach(() => {
  threads = [];
});

test('Jobs run one at a time a thread, in order, on whichever is free', async () => {
  const own = pool();
  const results = ['a', 'b', 'c'].map((what) => own.run((thread) => thread.work(what), never));
  expect(threads).toHaveLength(2);
  threads[1]?.ready();
  expect([threads[0]?.received, threads[1]?.received]).toEqual([[], [['work', 'a']]]);
  threads[1]?.answer('work', 'A');
  await settle();
  threads[1]?.answer('work', 'B');
  await settle();
  threads[1]?.answer('work', 'C');
  expect(await Promise.all(results)).toEqual(['A', 'B', 'C']);
  expect([threads[1]?.isRef, threads.length]).toEqual([false, 2]);
});

test.each([true, false])('An aborted job rejects at once; its thread is ended: %s', async (isEnded) => {
  const own = pool(isEnded);
  const abort = new AbortController();
  const running = own.run((thread) => thread.work('a'), abort.signal);
  threads[0]?.ready();
  abort.abort(new Error('too late'));
  await expect(running).rejects.toThrow('too late');
  expect(threads[0]?.isTerminated).toBe(isEnded);
});

test('A thread that dies fails its job alone, and is replaced', async () => {
  const own = pool();
  const first = own.run((thread) => thread.work('a'), never);
  threads[0]?.ready();
  threads[0]?.emit('error', new Error('out of memory'));
  await expect(first).rejects.toThrow('out of memory');
  const second = own.run((thread) => thread.work('b'), never);
  threads[1]?.ready();
  threads[1]?.answer('work', 'B');
  expect(await second).toBe('B');
});

test('A thread that cannot start fails what waits, and is not started again for it', async () => {
  const own = pool();
  const waiting = Promise.allSettled(['a', 'b'].map((what) => own.run((thread) => thread.work(what), never)));
  for (const thread of [...threads]) thread.emit('exit', 1);
  expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(threads).toHaveLength(2);
});

test('Closing rejects what runs, what waits and what comes', async () => {
  const own = pool();
  const jobs = ['a', 'b', 'c'].map((what) => own.run((thread) => thread.work(what), never));
  threads[0]?.ready();
  const closed = Promise.all([own.close(new Error('closed')), own.close()]);
  const results = await Promise.allSettled([...jobs, own.run((thread) => thread.work('d'), never)]);
  expect(results.map((result) => 'reason' in result && result.reason.message)).toEqual(
    Array(4).fill('closed'),
  );
  await closed;
  expect(threads.every(({ isTerminated }) => isTerminated)).toBe(true);
});
