import { describe, expect, test } from 'vitest';
import { ComputeShares } from '../../../src/base/async/computeShares.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const { signal } = new AbortController();

describe('A project’s share of the event loop', () => {
  test('is not used up by short evaluations', async () => {
    const { share, take } = shareOf();
    for (let turn = 0; turn < 200; turn += 1) take(1, 9);
    await share.ready(signal);
  });

  test('is not used up by one long evaluation: a garbage collection may have fallen into it', async () => {
    const { share, take, clock } = shareOf();
    for (let turn = 0; turn < 5; turn += 1) {
      take(200);
      take(1);
      clock.advance(10_000);
    }
    await share.ready(signal);
  });

  test('makes new turns wait, then refuses evaluations, and leaves other projects alone', async () => {
    const { share, take, clock, shares } = shareOf();
    take(20);
    take(24);
    expect(() => take(1)).toThrow(
      expect.objectContaining({ code: 'project_busy', category: 'rate_limited' }),
    );
    let isReady = false;
    const waiting = share.ready(signal).then(() => {
      isReady = true;
    });
    clock.advance(800);
    await Promise.resolve();
    expect(isReady).toBe(false);
    clock.advance(200);
    await waiting;
    expect(shares.of('other').run(() => 'ran')).toBe('ran');
    await shares.of('other').ready(signal);
  });
});

function shareOf() {
  const clock = createSimulatedClock(0);
  const startStopwatch = () => {
    const startedMs = clock.monotonicMs();
    return { elapsedMs: () => clock.monotonicMs() - startedMs };
  };
  const shares = new ComputeShares({ clock, startStopwatch });
  const share = shares.of('project');
  /** Evaluates for a time, then lets some pass. */
  const take = (workMs: number, pauseMs = 0) => {
    share.run(() => clock.advance(workMs));
    clock.advance(pauseMs);
  };
  return { clock, shares, share, take };
}
