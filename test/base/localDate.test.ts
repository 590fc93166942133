import { expect, test } from 'vitest';

import { localDate } from '../../src/base/localDate.ts';

const NEW_YEAR_MS = Date.UTC(2026, 0, 1, 1, 30);

test.each([
  ['UTC', '2026-01-01'],
  ['America/New_York', '2025-12-31'],
  ['Asia/Taipei', '2026-01-01'],
])('localDate gives the date in %s', (timeZone, date) => {
  expect(localDate(timeZone, NEW_YEAR_MS)).toBe(date);
});

test('localDate throws for an unknown time zone', () => {
  expect(() => localDate('Mars/Olympus', 0)).toThrow(RangeError);
});
