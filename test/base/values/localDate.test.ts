import { expect, test } from 'vitest';

import { localDate, localMoment } from '../../../src/base/values/localDate.ts';

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

test.each([
  ['Asia/Taipei', Date.UTC(2026, 10, 22, 6, 5), 'Sunday, 2026-11-22, 14:05 (Asia/Taipei, GMT+08:00)'],
  ['UTC', Date.UTC(2026, 10, 22, 0, 0), 'Sunday, 2026-11-22, 00:00 (UTC, GMT+00:00)'],
  ['Asia/Kathmandu', Date.UTC(2026, 0, 31, 18, 30), 'Sunday, 2026-02-01, 00:15 (Asia/Kathmandu, GMT+05:45)'],
  [
    'America/New_York',
    Date.UTC(2026, 6, 4, 3, 59),
    'Friday, 2026-07-03, 23:59 (America/New_York, GMT-04:00)',
  ],
])('localMoment gives weekday, date, time and zone in %s', (timeZone, atMs, moment) => {
  expect(localMoment(timeZone, atMs)).toBe(moment);
});
