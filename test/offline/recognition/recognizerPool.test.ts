import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RecognizerBusyError, RecognizerPool } from '../../../offline/recognition/recognizerPool.ts';
import type { RecognizerProcess } from '../../../offline/recognition/recognizerProcess.ts';

const SIZE = 2;
const forever = new AbortController().signal;

interface FakeProcess extends RecognizerProcess {
  readonly name: string;
  isKilled: boolean;
  /** It is gone. */
  end(): void;
}

let started: FakeProcess[];
let pool: RecognizerPool;

beforeEach(() => {
  vi.useFakeTimers();
  started = [];
  pool = new RecognizerPool({ size: SIZE, startProcess: fakeProcess });
});
afterEach(() => vi.useRealTimers());

function fakeProcess([name = '']: readonly string[]): RecognizerProcess {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const process: FakeProcess = {
    name,
    isKilled: false,
    ended,
    end: () => end(),
    write: () => undefined,
    finish: async () => [name],
    kill() {
      process.isKilled = true;
    },
  };
  started.push(process);
  return process;
}

const names = () => started.map(({ name }) => name);
const processNamed = (name: string) => started.find((process) => process.name === name);
async function end(name: string): Promise<void> {
  processNamed(name)?.end();
  await vi.advanceTimersByTimeAsync(0);
}

test('No more processes run than allowed, and utterances that ended get them in order of arrival', async () => {
  const results = ['a', 'b', 'c', 'd'].map((name) => pool.start([name], forever));
  expect(names()).toEqual(['a', 'b']);
  await end('b');
  expect(names()).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(names()).toEqual(['a', 'b', 'c', 'd']);
  expect(await Promise.all(results)).toEqual(started);
});

test('An utterance that is still being spoken gets a free process only', async () => {
  await pool.start(['a'], forever);
  expect(pool.startEarly(['b'], () => undefined)).toBe(processNamed('b'));
  expect(pool.startEarly(['c'], () => undefined)).toBeUndefined();
  await end('a');
  expect(pool.startEarly(['c'], () => undefined)).toBe(processNamed('c'));
});

test('An utterance that ended takes the newest process of one that did not, once that is gone', async () => {
  const revoked: string[] = [];
  for (const name of ['a', 'b']) pool.startEarly([name], () => revoked.push(name));
  const process = pool.start(['c'], forever);
  expect(revoked).toEqual(['b']);
  expect(started.map(({ isKilled }) => isKilled)).toEqual([false, true]);
  await end('b');
  expect(await process).toBe(processNamed('c'));
});

test('The process of an utterance that ended meanwhile is not taken away', async () => {
  const revoked: string[] = [];
  const [first, second] = ['a', 'b'].map((name) => pool.startEarly([name], () => revoked.push(name)));
  if (!first || !second) throw new Error('there were two free processes');
  pool.keep(first);
  pool.keep(second);
  void pool.start(['c'], forever);
  expect([revoked, started.some(({ isKilled }) => isKilled)]).toEqual([[], false]);
});

test('The queue is bounded, and a long wait ends', async () => {
  for (const name of ['a', 'b']) await pool.start([name], forever);
  const waiting = Array.from({ length: 16 * SIZE }, () =>
    pool.start(['waiting'], new AbortController().signal),
  );
  const outcomes = Promise.allSettled(waiting);
  await expect(pool.start(['too many'], forever)).rejects.toThrow(RecognizerBusyError);
  await vi.advanceTimersByTimeAsync(10_000);
  for (const outcome of await outcomes)
    expect(outcome).toEqual({ status: 'rejected', reason: expect.any(RecognizerBusyError) });
  await end('a');
  expect(names()).toEqual(['a', 'b']);
});

test('An aborted utterance leaves the queue', async () => {
  for (const name of ['a', 'b']) await pool.start([name], forever);
  const controller = new AbortController();
  const aborted = pool.start(['c'], controller.signal);
  void pool.start(['d'], forever);
  controller.abort(new Error('the caller continued'));
  await expect(aborted).rejects.toThrow('the caller continued');
  await end('a');
  expect(names()).toEqual(['a', 'b', 'd']);
});

test('A closed pool has killed its processes, starts none and leaves nobody waiting', async () => {
  for (const name of ['a', 'b']) await pool.start([name], forever);
  const waiting = pool.start(['c'], forever);
  pool.close();
  await expect(waiting).rejects.toThrow('closed');
  expect(started.map(({ isKilled }) => isKilled)).toEqual([true, true]);
  await end('a');
  expect(pool.startEarly(['d'], () => undefined)).toBeUndefined();
  await expect(pool.start(['e'], forever)).rejects.toThrow('closed');
  expect(names()).toEqual(['a', 'b']);
});
