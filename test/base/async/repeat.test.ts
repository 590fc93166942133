import { expect, test } from 'vitest';

import { repeat } from '../../../src/base/async/repeat.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const EVERY_MS = 1_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A task that the test resolves or rejects. */
function scene(firstMs?: number) {
  const clock = createSimulatedClock();
  const running: Settling[] = [];
  const errors: unknown[] = [];
  const work = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      running.push({ signal, resolve, reject });
    });
  const stop = repeat(clock, EVERY_MS, work, (error) => errors.push(error), firstMs);
  return { clock, running, errors, stop };
}

interface Settling {
  readonly signal: AbortSignal;
  resolve(): void;
  reject(error: unknown): void;
}

test('repeat waits for the interval after the end of each run', async () => {
  const { clock, running } = scene();
  clock.advance(EVERY_MS - 1);
  expect(running).toHaveLength(0);
  clock.advance(1);
  expect(running).toHaveLength(1);
  clock.advance(10 * EVERY_MS);
  expect(running).toHaveLength(1);
  running[0]?.resolve();
  await settled();
  clock.advance(EVERY_MS - 1);
  expect(running).toHaveLength(1);
  clock.advance(1);
  expect(running).toHaveLength(2);
});

test('repeat starts the first run after its own delay', async () => {
  const { clock, running } = scene(10);
  clock.advance(10);
  running[0]?.resolve();
  await settled();
  clock.advance(EVERY_MS - 1);
  expect(running).toHaveLength(1);
  clock.advance(1);
  expect(running).toHaveLength(2);
});

test('repeat reports a failure and continues', async () => {
  const { clock, running, errors } = scene();
  clock.advance(EVERY_MS);
  running[0]?.reject('broken');
  await settled();
  expect(errors).toEqual(['broken']);
  clock.advance(EVERY_MS);
  expect(running).toHaveLength(2);
});

test('Stopping tells the running task, waits for it and leaves no timer', async () => {
  const { clock, running, stop } = scene();
  clock.advance(EVERY_MS);
  expect(running[0]?.signal.aborted).toBe(false);
  let isStopped = false;
  const stopping = Promise.all([stop(), stop()]).then(() => {
    isStopped = true;
  });
  await settled();
  expect(isStopped).toBe(false);
  expect(running[0]?.signal.aborted).toBe(true);
  running[0]?.resolve();
  await stopping;
  expect(clock.pendingTimers()).toBe(0);
});

test('A task that is stopped before its first run does not run', async () => {
  const { clock, running, stop } = scene();
  await stop();
  expect(clock.pendingTimers()).toBe(0);
  clock.advance(EVERY_MS);
  expect(running).toHaveLength(0);
});
