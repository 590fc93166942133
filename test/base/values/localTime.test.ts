import { expect, test } from 'vitest';

import { instantsOf, parseLocalTime } from '../../../src/base/values/localTime.ts';

const instants = (text: string, timeZone: string) =>
  instantsOf(parseLocalTime(text) ?? Number.NaN, timeZone).map((ms) => new Date(ms).toISOString());

test.each([
  ['2026-11-24T15:00', 'Asia/Taipei', ['2026-11-24T07:00:00.000Z']],
  ['2026-11-24 15:00', 'Asia/Kathmandu', ['2026-11-24T09:15:00.000Z']],
  ['2026-07-01T00:00:00', 'America/New_York', ['2026-07-01T04:00:00.000Z']],
  ['2026-12-31T23:59', 'Pacific/Kiritimati', ['2026-12-31T09:59:00.000Z']],
  // Clocks are put forward from 02:00 to 03:00, and back from 03:00 to 02:00.
  ['2026-03-29T01:59', 'Europe/Berlin', ['2026-03-29T00:59:00.000Z']],
  ['2026-03-29T02:00', 'Europe/Berlin', []],
  ['2026-03-29T02:59', 'Europe/Berlin', []],
  ['2026-03-29T03:00', 'Europe/Berlin', ['2026-03-29T01:00:00.000Z']],
  ['2026-10-25T02:30', 'Europe/Berlin', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
  // By half an hour.
  ['2026-10-04T02:15', 'Australia/Lord_Howe', []],
])('%s in %s is %j', (text, timeZone, expected) => {
  expect(instants(text, timeZone)).toEqual(expected);
});

test.each([
  '',
  'tomorrow',
  '2026-11-24',
  '2026-11-24T15:00Z',
  '2026-11-24T15:00+08:00',
  '2026-02-30T10:00',
  '2026-13-01T10:00',
  '2026-11-24T24:01',
])('%j is no local time', (text) => {
  expect(parseLocalTime(text)).toBeUndefined();
});
