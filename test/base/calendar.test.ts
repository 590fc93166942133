import { expect, test } from 'vitest';

import { createCalendar } from '../../src/base/calendar.ts';

const NEW_YEAR_MS = Date.UTC(2026, 0, 1, 1, 30);

test.each([
  ['UTC', '2026-01-01'],
  ['America/New_York', '2025-12-31'],
  ['Asia/Taipei', '2026-01-01'],
])('it is a day of its own in %s', (timeZone, day) => {
  const calendar = createCalendar();
  expect(calendar.dayIn(timeZone, NEW_YEAR_MS)).toBe(day);
  expect(calendar.dayIn(timeZone, NEW_YEAR_MS)).toBe(day);
});

test('the days go on in a zone that was asked for before', () => {
  const calendar = createCalendar();
  expect(calendar.dayIn('UTC', NEW_YEAR_MS)).toBe('2026-01-01');
  expect(calendar.dayIn('UTC', NEW_YEAR_MS + 86_400_000)).toBe('2026-01-02');
});

test('there is no such zone', () => {
  expect(() => createCalendar().dayIn('Mars/Olympus', 0)).toThrow(RangeError);
});
