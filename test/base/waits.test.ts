import { describe, expect, test } from 'vitest';

import { sleep } from '../../src/base/sleep.ts';
import { withTimeout } from '../../src/base/withTimeout.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('within', () => {
  const never = () => new Promise(() => undefined);
  /** Whether it is over after these many of its 100 ms. */
  async function isOverAfter(wait: () => Promise<unknown>, elapsedMs: number) {
    const clock = createSimulatedClock();
    let isOver = false;
    void withTimeout(clock, wait(), 100).then(() => {
      isOver = true;
    });
    await settled();
    clock.advance(elapsedMs);
    await settled();
    return { isOver, timers: clock.pendingTimers() };
  }

  test.each([
    ['what is done ends it at once', async () => 1, 0, { isOver: true, timers: 0 }],
    ['so does what fails', () => Promise.reject(new Error('x')), 0, { isOver: true, timers: 0 }],
    ['it waits for what is not done', never, 99, { isOver: false, timers: 1 }],
    ['and no longer than it may', never, 100, { isOver: true, timers: 0 }],
  ])('%s', async (_what, wait, elapsedMs, expected) => {
    expect(await isOverAfter(wait, elapsedMs)).toEqual(expected);
  });
});

describe('rest', () => {
  /** How it stands after so many of its 100 ms, and what it leaves behind. */
  async function begin(clock = createSimulatedClock(), leaving = new AbortController()) {
    const outcome: { of?: unknown } = {};
    sleep(clock, 100, leaving.signal).then(
      () => {
        outcome.of = 'rested';
      },
      (error: unknown) => {
        outcome.of = error;
      },
    );
    await settled();
    return { clock, leaving, outcome };
  }

  test('lasts as long as was said', async () => {
    const { clock, outcome } = await begin();
    clock.advance(99);
    await settled();
    expect(outcome).toEqual({});
    clock.advance(1);
    await settled();
    expect(outcome).toEqual({ of: 'rested' });
  });

  test('an abort ends it at once with its reason, and leaves no timer', async () => {
    const { clock, leaving, outcome } = await begin();
    leaving.abort('gone');
    await settled();
    expect(outcome).toEqual({ of: 'gone' });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('does not begin for one who has left', async () => {
    const leaving = new AbortController();
    leaving.abort('gone');
    const { clock, outcome } = await begin(createSimulatedClock(), leaving);
    expect(outcome).toEqual({ of: 'gone' });
    expect(clock.pendingTimers()).toBe(0);
  });
});
