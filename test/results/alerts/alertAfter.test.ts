import { describe, expect, test } from 'vitest';

import { type Alert, patchAlert } from '../../../src/results/alerts/alert.ts';
import { alertAfter } from '../../../src/results/alerts/evaluateAlert.ts';
import type { Figure } from '../../../src/results/insights/insightStore.ts';

const ALERT: Alert = {
  id: 'a',
  projectId: 'p',
  name: 'Few successes',
  metric: 'success',
  filter: {},
  windowMinutes: 60,
  minCount: 20,
  below: 0.8,
  webhook: null,
  enabled: true,
  state: 'ok',
  since: '2026-01-01T00:00:00.000Z',
  lastValue: null,
  calmLooks: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const at = (minute: number) => `2026-01-01T01:0${minute}:00.000Z`;
const look = (value: number | null, n = 30): Figure => ({ value, n });

/** `F` for each look after which it fires, else `-`. */
function looksOf(alert: Alert, figures: readonly (Figure | undefined)[]) {
  let [after, states] = [alert, ''];
  for (const [minute, figure] of figures.entries()) {
    after = alertAfter(after, figure, at(minute));
    states += after.state === 'firing' ? 'F' : '-';
  }
  return { states, after };
}

describe('An alert', () => {
  const upTo: Partial<Alert> = { metric: 'error', above: 0.1, below: undefined };
  const few: Partial<Alert> = { metric: 'calls', below: 5 };
  const [bad, good] = [look(0.7), look(0.9)];
  test.each<[string, Partial<Alert>, (Figure | undefined)[], string]>([
    ['fires below its bound at once', {}, [good, bad], '-F'],
    ['does not fire at its bound', {}, [look(0.8)], '-'],
    ['fires above its bound', upTo, [look(0.1), look(0.11)], '-F'],
    ['waits for enough', {}, [look(0.1, 19), look(0.1, 20)], '-F'],
    ['is over after three looks that are not beyond', {}, [bad, good, good, good], 'FFF-'],
    ['does not flap at its bound', {}, [bad, good, good, bad, good, good, bad, good], 'FFFFFFFF'],
    [
      'is over when there is too little to say',
      {},
      [bad, look(0.1, 3), look(null, 0), look(null, 0)],
      'FFF-',
    ],
    ['of nothing to measure does not fire', {}, [look(null, 0)], '-'],
    ['waits for few, of which there may be none', few, [look(6, 6), look(4, 4), look(null, 0)], '-FF'],
    ['for many waits for enough', { metric: 'calls', above: 5, below: undefined }, [look(9, 9)], '-'],
    ['is over when it is disabled', {}, [bad, undefined], 'F-'],
  ])('%s', (_, settings, figures, expected) => {
    expect(looksOf({ ...ALERT, ...settings }, figures).states).toBe(expected);
  });

  test('says since when, and what it saw last', () => {
    expect(looksOf(ALERT, [bad, bad, good]).after).toMatchObject({ since: at(0), lastValue: 0.9 });
    expect(looksOf(ALERT, [bad, good, good, good, good]).after).toMatchObject({ state: 'ok', since: at(3) });
    expect(looksOf(ALERT, [look(null, 0)]).after).toMatchObject({ since: ALERT.since, lastValue: null });
  });

  test.each([
    [{ below: 0.7 }, { below: 0.7, above: undefined }],
    [{ above: 0.9 }, { below: undefined, above: 0.9 }],
    [{ name: 'x' }, { below: 0.8, above: undefined }],
    [{ above: null }, { below: 0.8, above: undefined }],
    [{ below: null }, { below: undefined, above: undefined }],
    [
      { below: 0.7, above: 0.9 },
      { below: 0.7, above: 0.9 },
    ],
  ])('changed by %j has the bounds %j', (patch, bounds) => {
    expect(patchAlert(ALERT, patch)).toMatchObject(bounds);
  });
});
