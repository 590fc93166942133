import { describe, expect, onTestFinished, test } from 'vitest';

import {
  type HealthChange,
  monitorHealth,
  PROBE_INTERVAL_MS,
  RECOVERY_WAIT_MS,
} from '../../src/base/healthMonitor.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const refused = new Error('refused');

/** A part whose answers the test decides. */
function watched() {
  const simulated = createSimulatedClock();
  let aheadMs = 0;
  const clock = { ...simulated, monotonicMs: () => simulated.monotonicMs() + aheadMs };
  const changes: HealthChange[] = [];
  let asked = 0;
  let ask: () => Promise<unknown> = async () => undefined;
  const presence = monitorHealth({
    clock,
    probe: () => {
      asked += 1;
      return ask();
    },
    toError: () => refused,
    onChange: (change) => changes.push(change),
  });
  onTestFinished(() => presence.close());
  return {
    clock,
    changes,
    presence,
    asked: () => asked,
    /** Time passes in which no timer comes. */
    holdUp(ms: number) {
      aheadMs += ms;
    },
    answers(next: () => Promise<unknown>) {
      ask = next;
    },
    async pass(ms: number) {
      clock.advance(ms);
      await settled();
    },
  };
}
const silence = async () => Promise.reject(new Error('silence'));
const never = () => new Promise<never>(() => undefined);

test('is asked all the time, and says nothing while it answers', async () => {
  const { pass, asked, changes, presence } = watched();
  for (let round = 0; round < 3; round += 1) await pass(PROBE_INTERVAL_MS);
  expect(asked()).toBe(3);
  expect(changes).toEqual([]);
  expect(presence.isDown()).toBe(false);
});

test('one missed answer is no absence', async () => {
  const { pass, asked, answers, changes } = watched();
  let misses = 1;
  answers(async () => {
    if (misses-- > 0) throw new Error('silence');
  });
  await pass(PROBE_INTERVAL_MS);
  expect(asked()).toBe(2);
  expect(changes).toEqual([]);
});

describe('an asker that was late himself', () => {
  /** Each ask takes so long, of which the process cannot run for a part. */
  const slowly = (lateMs: number, ranMs: number) => {
    const world = watched();
    world.answers(async () => {
      await settled();
      world.clock.advance(ranMs);
      world.holdUp(lateMs);
      throw new Error('silence');
    });
    return world;
  };

  test('takes two misses for none, but not four', async () => {
    const { pass, asked, changes } = slowly(1_000, 1_000);
    await pass(PROBE_INTERVAL_MS);
    await expect.poll(() => changes).toHaveLength(1);
    expect(asked()).toBe(5);
  });

  test('and not two, where that was for a moment', async () => {
    const { pass, asked, changes } = slowly(100, 1_900);
    await pass(PROBE_INTERVAL_MS);
    await expect.poll(() => changes).toHaveLength(1);
    expect(asked()).toBe(2);
  });

  test('hears an answer that came in the end', async () => {
    const { pass, asked, answers, changes, presence, clock, holdUp } = watched();
    let misses = 3;
    answers(async () => {
      await settled();
      if (misses-- <= 0) return;
      clock.advance(500);
      holdUp(1_500);
      throw new Error('silence');
    });
    await pass(PROBE_INTERVAL_MS);
    await expect.poll(asked).toBe(4);
    await presence.check();
    expect(changes).toEqual([]);
  });
});

test('nor are two, where other work was answered meanwhile', async () => {
  const { pass, answers, changes, presence } = watched();
  answers(async () => {
    await presence.hold(async () => 'answer');
    throw new Error('silence');
  });
  await pass(PROBE_INTERVAL_MS);
  expect(changes).toEqual([]);
});

test('two end what waits, with one word to whoever watches; what ends later on is not heard', async () => {
  const { pass, answers, changes, presence } = watched();
  let fail: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const waiting = [presence.hold(never), presence.hold(() => late)].map((work) =>
    work.catch((error: unknown) => error),
  );
  answers(silence);
  await pass(PROBE_INTERVAL_MS);
  expect(await Promise.all(waiting)).toEqual([refused, refused]);
  fail(new Error('connection closed'));
  await pass(PROBE_INTERVAL_MS);
  await pass(PROBE_INTERVAL_MS);
  expect(changes).toEqual([{ isAway: true, reason: new Error('silence') }]);
});

test('work that ends without an answer of it does not prove that it is there', async () => {
  const { pass, answers, changes, presence } = watched();
  answers(silence);
  const looking = pass(PROBE_INTERVAL_MS);
  await presence.hold(async () => undefined, false);
  await looking;
  expect(changes).toHaveLength(1);
});

describe('while it is away', () => {
  test('work does not begin', async () => {
    const { pass, answers, presence } = watched();
    answers(silence);
    await pass(PROBE_INTERVAL_MS);
    let begun = false;
    const work = async () => {
      begun = true;
    };
    await expect(presence.hold(work)).rejects.toBe(refused);
    expect(begun).toBe(false);
  });

  test('work waits for no more than a moment where nothing is heard', async () => {
    const { pass, answers, presence } = watched();
    answers(silence);
    await pass(PROBE_INTERVAL_MS);
    let answer: () => void = () => undefined;
    answers(
      () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    );
    let ended: unknown;
    void presence
      .hold(async () => undefined)
      .catch((error: unknown) => {
        ended = error;
      });
    await pass(RECOVERY_WAIT_MS - 1);
    expect(ended).toBeUndefined();
    await pass(1);
    expect(ended).toBe(refused);
    answer();
  });

  test('the first work that comes once it is back is done', async () => {
    const { clock, pass, answers, changes, presence } = watched();
    answers(silence);
    await pass(PROBE_INTERVAL_MS);
    clock.advance(100);
    answers(async () => undefined);
    expect(await presence.hold(async () => 'done')).toBe('done');
    expect(changes.at(-1)).toEqual({ isAway: false, awayMs: 100 });
  });
});

test('the failures of work are its own', async () => {
  const { presence, changes } = watched();
  const own = new Error('a constraint');
  await expect(presence.hold(() => Promise.reject(own))).rejects.toBe(own);
  expect(changes).toEqual([]);
});

test('a close ends the asking', async () => {
  const { clock, presence } = watched();
  await presence.close();
  expect(clock.pendingTimers()).toBe(0);
});
