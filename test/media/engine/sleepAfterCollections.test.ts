import { once } from 'node:events';
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { sleepAfterCollections } from '../../../src/media/engine/sleepAfterCollections.ts';

setFlagsFromString('--expose-gc');
const collectAll: () => void = runInNewContext('gc');

/** Resolves when observers know of a full collection. */
async function collected(): Promise<void> {
  const events = new EventTarget();
  const observer = new PerformanceObserver(() => events.dispatchEvent(new Event('collected')));
  observer.observe({ entryTypes: ['gc'] });
  const known = once(events, 'collected');
  collectAll();
  await known;
  observer.disconnect();
}

test('A thread sleeps for a moment in each turn after a full collection, until that is ended', async () => {
  const sleeps: number[] = [];
  const end = sleepAfterCollections({ sleep: (ms) => sleeps.push(ms), nowMs: () => 0 });
  await collected();
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(sleeps.length).toBeGreaterThanOrEqual(2);
  expect(new Set(sleeps)).toEqual(new Set([0.25]));

  end();
  const before = sleeps.length;
  await collected();
  await nextTurn();
  expect(sleeps).toHaveLength(before);
});

test('A thread sleeps no more two seconds after the last full collection', async () => {
  let nowMs = 0;
  const sleeps: number[] = [];
  const nextLook = () => {
    nowMs += 2000;
    return nowMs;
  };
  onTestFinished(sleepAfterCollections({ sleep: (ms) => sleeps.push(ms), nowMs: nextLook }));
  await collected();
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(nowMs).toBeGreaterThanOrEqual(4000);
  expect(sleeps).toEqual([]);
});
