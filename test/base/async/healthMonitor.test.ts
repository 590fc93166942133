import { describe, expect, onTestFinished, test } from 'vitest';

import {
  type HealthChange,
  monitorHealth,
  PROBE_INTERVAL_MS,
  RECOVERY_WAIT_MS,
} from '../../../src/base/async/healthMonitor.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const unavailableError = new Error('unavailable');

/** A monitor of a dependency whose answers the test decides. */
function scene() {
  const simulated = createSimulatedClock();
  let aheadMs = 0;
  const clock = { ...simulated, monotonicMs: () => simulated.monotonicMs() + aheadMs };
  const changes: HealthChange[] = [];
  let probes = 0;
  let ask: () => Promise<unknown> = async () => undefined;
  const health = monitorHealth({
    clock,
    probe: () => {
      probes += 1;
      return ask();
    },
    toError: () => unavailableError,
    onChange: (change) => changes.push(change),
  });
  onTestFinished(() => health.close());
  return {
    clock,
    changes,
    health,
    probes: () => probes,
    /** The process is blocked: time passes and no timer fires. */
    block(ms: number) {
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
const failing = async () => Promise.reject(new Error('no answer'));
const never = () => new Promise<never>(() => undefined);

test('A dependency that answers is probed at the interval without a report', async () => {
  const { pass, probes, changes, health } = scene();
  for (let round = 0; round < 3; round += 1) await pass(PROBE_INTERVAL_MS);
  expect(probes()).toBe(3);
  expect(changes).toEqual([]);
  expect(health.isDown()).toBe(false);
});

test('One failed probe is no outage', async () => {
  const { pass, probes, answers, changes } = scene();
  let misses = 1;
  answers(async () => {
    if (misses-- > 0) throw new Error('no answer');
  });
  await pass(PROBE_INTERVAL_MS);
  expect(probes()).toBe(2);
  expect(changes).toEqual([]);
});

describe('A process whose event loop was blocked', () => {
  /** Each probe fails after this time, of which the process was blocked for `lateMs`. */
  const slowly = (lateMs: number, ranMs: number) => {
    const world = scene();
    world.answers(async () => {
      await settled();
      world.clock.advance(ranMs);
      world.block(lateMs);
      throw new Error('no answer');
    });
    return world;
  };

  test('ignores failed probes until the fourth', async () => {
    const { pass, probes, changes } = slowly(1_000, 1_000);
    await pass(PROBE_INTERVAL_MS);
    await expect.poll(() => changes).toHaveLength(1);
    expect(probes()).toBe(5);
  });

  test('counts failed probes when it was blocked only briefly', async () => {
    const { pass, probes, changes } = slowly(100, 1_900);
    await pass(PROBE_INTERVAL_MS);
    await expect.poll(() => changes).toHaveLength(1);
    expect(probes()).toBe(2);
  });

  test('reports nothing when a later probe succeeds', async () => {
    const { pass, probes, answers, changes, health, clock, block } = scene();
    let misses = 3;
    answers(async () => {
      await settled();
      if (misses-- <= 0) return;
      clock.advance(500);
      block(1_500);
      throw new Error('no answer');
    });
    await pass(PROBE_INTERVAL_MS);
    await expect.poll(probes).toBe(4);
    await health.check();
    expect(changes).toEqual([]);
  });
});

test('Two failed probes are no outage when an operation succeeded meanwhile', async () => {
  const { pass, answers, changes, health } = scene();
  answers(async () => {
    await health.guard(async () => 'answer');
    throw new Error('no answer');
  });
  await pass(PROBE_INTERVAL_MS);
  expect(changes).toEqual([]);
});

test('Two failed probes reject pending operations and are reported once; later results are ignored', async () => {
  const { pass, answers, changes, health } = scene();
  let fail: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const waiting = [health.guard(never), health.guard(() => late)].map((work) =>
    work.catch((error: unknown) => error),
  );
  answers(failing);
  await pass(PROBE_INTERVAL_MS);
  expect(await Promise.all(waiting)).toEqual([unavailableError, unavailableError]);
  fail(new Error('connection closed'));
  await pass(PROBE_INTERVAL_MS);
  await pass(PROBE_INTERVAL_MS);
  expect(changes).toEqual([{ isDown: true, reason: new Error('no answer') }]);
});

test('An operation that does not reach the dependency does not prove its health', async () => {
  const { pass, answers, changes, health } = scene();
  answers(failing);
  const looking = pass(PROBE_INTERVAL_MS);
  await health.guard(async () => undefined, false);
  await looking;
  expect(changes).toHaveLength(1);
});

describe('While the dependency is down', () => {
  test('an operation is rejected before it starts', async () => {
    const { pass, answers, health } = scene();
    answers(failing);
    await pass(PROBE_INTERVAL_MS);
    let begun = false;
    const work = async () => {
      begun = true;
    };
    await expect(health.guard(work)).rejects.toBe(unavailableError);
    expect(begun).toBe(false);
  });

  test('an operation waits at most the recovery time for a probe', async () => {
    const { pass, answers, health } = scene();
    answers(failing);
    await pass(PROBE_INTERVAL_MS);
    let answer: () => void = () => undefined;
    answers(
      () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    );
    let ended: unknown;
    void health
      .guard(async () => undefined)
      .catch((error: unknown) => {
        ended = error;
      });
    await pass(RECOVERY_WAIT_MS - 1);
    expect(ended).toBeUndefined();
    await pass(1);
    expect(ended).toBe(unavailableError);
    answer();
  });

  test('the first operation after the recovery runs', async () => {
    const { clock, pass, answers, changes, health } = scene();
    answers(failing);
    await pass(PROBE_INTERVAL_MS);
    clock.advance(100);
    answers(async () => undefined);
    expect(await health.guard(async () => 'done')).toBe('done');
    expect(changes.at(-1)).toEqual({ isDown: false, downMs: 100 });
  });
});

test('An operation’s own failure is passed through and is no outage', async () => {
  const { health, changes } = scene();
  const own = new Error('a constraint');
  await expect(health.guard(() => Promise.reject(own))).rejects.toBe(own);
  expect(changes).toEqual([]);
});

test('close stops the probing', async () => {
  const { clock, health } = scene();
  await health.close();
  expect(clock.pendingTimers()).toBe(0);
});
