import { describe, expect, test } from 'vitest';

import { campaignInput, settingsFrom } from '../../src/campaigns/campaign.ts';
import { fromNumbersFor } from '../../src/campaigns/fromNumbers.ts';
import { nextSlotMs } from '../../src/campaigns/pacing.ts';

/** Places calls for ten minutes, each as late as `lateMs` says. @returns Their times. */
function placed(callsPerMinute: number, lateMs: (index: number) => number): number[] {
  const times: number[] = [];
  let slotMs: number | null = null;
  for (;;) {
    const nowMs: number = Math.max(
      slotMs ?? 0,
      (times.at(-1) ?? 0) + 1,
      slotMs === null ? 0 : slotMs + lateMs(times.length),
    );
    if (nowMs >= 600_000) return times;
    slotMs = nextSlotMs(slotMs, nowMs, callsPerMinute);
    times.push(nowMs);
  }
}

describe('The pace of a campaign', () => {
  test.each([1, 7, 30, 250, 600])(
    'of %i calls a minute is kept within 3 % over ten minutes, never above',
    (pace) => {
      const spacingMs = 60_000 / pace;
      for (const lateMs of [() => 0, (index: number) => (index % 7) * Math.min(10, spacingMs / 10)]) {
        const times = placed(pace, lateMs);
        expect(times.length / (10 * pace)).toBeGreaterThanOrEqual(pace === 1 ? 0.9 : 0.97);
        expect(times.length).toBeLessThanOrEqual(10 * pace);
        for (const [index, atMs] of times.entries()) {
          const inMinute = times.slice(index).filter((other) => other < atMs + 60_000).length;
          expect(inMinute).toBeLessThanOrEqual(pace);
        }
      }
    },
  );

  test('is not made up for after a pause', () => {
    const first = nextSlotMs(null, 0, 60);
    expect(first).toBe(1010);
    const afterHour = nextSlotMs(first, 3_600_000, 60);
    expect(afterHour).toBe(3_600_000);
    expect(nextSlotMs(afterHour, 3_600_000, 60)).toBe(3_601_010);
  });
});

describe('The number that calls', () => {
  const settings = settingsFrom(campaignInput.parse({ name: 'c' }));
  const fromNumbers = ['+886223456789', '+13105550100', '+12125550100'];
  test.each<['fixed' | 'rotate' | 'local', string, number, string]>([
    ['fixed', '+13105550123', 4, '+886223456789'],
    ['rotate', '+13105550123', 4, '+13105550100'],
    ['rotate', '+13105550123', 5, '+12125550100'],
    ['local', '+12125559999', 0, '+12125550100'],
    ['local', '+13105550123', 0, '+13105550100'],
    ['local', '+442079460018', 0, '+886223456789'],
  ])('%s for %s after %i calls is %s', (callerId, toNumber, calls, first) => {
    const numbers = fromNumbersFor({ ...settings, callerId, fromNumbers }, toNumber, calls);
    expect(numbers[0]).toBe(first);
    expect(numbers.toSorted()).toEqual(fromNumbers.toSorted());
  });
});
