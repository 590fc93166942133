import { expect, test } from 'vitest';

import type { CallingWindow, Weekday } from '../../../src/agents/accounts/callingHours.ts';
import { MINUTE_MS } from '../../../src/base/values/clock.ts';
import {
  isOpen,
  nextOpening,
  type OpenHours,
  openHours,
  zonesFor,
} from '../../../src/calls/hours/openHours.ts';

const WEEK: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const DAYTIME: CallingWindow[] = [{ days: WEEK, from: '08:00', to: '21:00' }];

function hours(zones: readonly string[], windows = DAYTIME, exceptDates: string[] = []): OpenHours {
  return openHours(zones, windows, exceptDates);
}

function everyDay(from: string, to: string): CallingWindow[] {
  return [{ days: WEEK, from, to }];
}

function opening(one: OpenHours | OpenHours[], from: string): string | undefined {
  const atMs = nextOpening([one].flat(), Date.parse(from));
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

test.each([
  ['Europe/Berlin', '2026-11-30T06:59:59.999Z', false],
  ['Europe/Berlin', '2026-11-30T07:00:00.000Z', true],
  ['Europe/Berlin', '2026-11-30T19:59:57.999Z', true],
  // The INVITE of a call that is placed now may go out after the end.
  ['Europe/Berlin', '2026-11-30T19:59:58.000Z', false],
  ['Europe/Berlin', '2026-11-30T20:00:00.000Z', false],
  ['Asia/Kathmandu', '2026-11-30T02:14:00.000Z', false],
  ['Asia/Kathmandu', '2026-11-30T02:15:00.000Z', true],
  // Summer time began at 01:00 UTC.
  ['Europe/Berlin', '2026-03-29T06:00:00.000Z', true],
  ['Europe/Berlin', '2026-03-28T06:00:00.000Z', false],
])('From 08:00 to 21:00 in %s at %s: %j', (zone, at, expected) => {
  expect(isOpen([hours([zone])], Date.parse(at))).toBe(expected);
});

test('All zones of a number must be inside', () => {
  const alaska = hours(zonesFor('callee', '+19075551234'));
  // 08:30 in Anchorage, 07:30 in Adak.
  expect(isOpen([alaska], Date.parse('2026-11-30T17:30:00Z'))).toBe(false);
  expect(isOpen([alaska], Date.parse('2026-11-30T18:00:00Z'))).toBe(true);
  // 21:30 in Anchorage, 20:30 in Adak.
  expect(isOpen([alaska], Date.parse('2026-12-01T06:30:00Z'))).toBe(false);
  expect(opening(alaska, '2026-12-01T06:30:00Z')).toBe('2026-12-01T18:00:00.000Z');
});

test.each<[string, OpenHours | OpenHours[], string, string | undefined]>([
  ['inside is now', hours(['UTC']), '2026-11-30T12:34:56.789Z', '2026-11-30T12:34:56.789Z'],
  ['before it opens', hours(['UTC']), '2026-11-30T07:00:00Z', '2026-11-30T08:00:00.000Z'],
  ['after it closed', hours(['UTC']), '2026-11-30T21:00:00Z', '2026-12-01T08:00:00.000Z'],
  [
    'until midnight',
    hours(['UTC'], everyDay('20:00', '24:00')),
    '2026-11-30T23:59:57Z',
    '2026-11-30T23:59:57.000Z',
  ],
  [
    'over midnight, in two windows',
    hours(['UTC'], [...everyDay('22:00', '24:00'), ...everyDay('00:00', '02:00')]),
    '2026-11-30T23:59:59Z',
    '2026-11-30T23:59:59.000Z',
  ],
  [
    'Mondays',
    hours(['Asia/Taipei'], [{ days: ['mon'], from: '09:00', to: '10:00' }]),
    '2026-11-30T02:00:00Z', // Monday, 10:00 in Taipei
    '2026-12-07T01:00:00.000Z',
  ],
  [
    'excepted days',
    hours(['UTC'], DAYTIME, ['2026-12-25', '2026-12-26', '2026-12-27']),
    '2026-12-25T10:00:00Z',
    '2026-12-28T08:00:00.000Z',
  ],
  [
    'excepted where it is still that day',
    hours(['Pacific/Honolulu'], everyDay('00:00', '24:00'), ['2026-12-25']),
    '2026-12-26T05:00:00Z', // 19:00 on the 25th in Honolulu
    '2026-12-26T10:00:00.000Z',
  ],
  // The clocks of Berlin go from 02:00 to 03:00, at 01:00 UTC.
  [
    'a start that the clocks skip',
    hours(['Europe/Berlin'], everyDay('02:30', '05:00')),
    '2026-03-29T00:30:00Z',
    '2026-03-29T01:00:00.000Z',
  ],
  [
    'a window that the clocks skip',
    hours(['Europe/Berlin'], everyDay('02:10', '02:50')),
    '2026-03-29T00:30:00Z',
    '2026-03-30T00:10:00.000Z',
  ],
  // They go back from 03:00 to 02:00, at 01:00 UTC.
  [
    'hours that come twice',
    hours(['Europe/Berlin'], everyDay('01:00', '02:30')),
    '2026-10-25T00:30:00Z', // 02:30 for the first time
    '2026-10-25T01:00:00.000Z', // 02:00 for the second time
  ],
  [
    'a midnight that the clocks skip',
    hours(['Africa/Cairo'], everyDay('00:00', '06:00')),
    '2026-04-23T20:00:00Z',
    '2026-04-23T22:00:00.000Z', // 01:00 in Cairo
  ],
  [
    'a start before a change of the clocks on the next day',
    hours(['Europe/Berlin'], everyDay('01:00', '05:00')),
    '2026-03-28T21:00:00Z',
    '2026-03-29T00:00:00.000Z',
  ],
  [
    'the hours of two lists',
    [
      hours(['Europe/Berlin'], everyDay('09:00', '12:00')),
      hours(['America/New_York'], everyDay('05:30', '20:00')),
    ],
    '2026-11-30T00:00:00Z',
    '2026-11-30T10:30:00.000Z',
  ],
  // Two weeks of the year New York is only five hours behind.
  [
    'only while the clocks are an hour closer',
    [
      hours(['Europe/London'], everyDay('12:00', '13:00')),
      hours(['America/New_York'], everyDay('08:00', '09:00')),
    ],
    '2026-11-30T00:00:00Z',
    '2027-03-14T12:00:00.000Z',
  ],
  [
    'never together',
    [hours(['Asia/Tokyo'], everyDay('09:00', '10:00')), hours(['Europe/Berlin'], everyDay('09:00', '10:00'))],
    '2026-11-30T00:00:00Z',
    undefined,
  ],
  [
    'a day that is always excepted',
    hours(['UTC'], [{ days: ['mon'], from: '09:00', to: '10:00' }], mondays(60)),
    '2026-11-30T00:00:00Z',
    '2028-01-24T09:00:00.000Z',
  ],
  [
    'a day of the week that is excepted for three years',
    hours(['UTC'], [{ days: ['mon'], from: '09:00', to: '10:00' }], mondays(160)),
    '2026-11-30T00:00:00Z',
    '2029-12-24T09:00:00.000Z',
  ],
  [
    'a day of the week that is excepted for longer than five years',
    hours(['UTC'], [{ days: ['mon'], from: '09:00', to: '10:00' }], mondays(300)),
    '2026-11-30T00:00:00Z',
    undefined,
  ],
])('The next opening: %s', (_, one, from, expected) => {
  expect(opening(one, from)).toBe(expected);
});

test.each([
  ['Europe/Berlin', '2026-10-24T12:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T00:00:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T00:00:00Z'],
  ['America/St_Johns', '2026-10-31T12:00:00Z'],
  ['Africa/Casablanca', '2026-02-14T12:00:00Z'],
  ['America/Asuncion', '2026-12-31T00:00:00Z'],
])('Minute by minute, in %s from %s on, clock and hours agree', (zone, from) => {
  const one = hours(
    [zone],
    [...everyDay('00:00', '00:45'), ...everyDay('01:10', '02:20'), ...everyDay('23:30', '24:00')],
  );
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
  const isInside = (atMs: number) => {
    const time = clock.format(atMs);
    return time < '00:45' || (time >= '01:10' && time < '02:20') || time >= '23:30';
  };
  const startMs = Date.parse(from);
  let openMs: number | undefined;
  for (let atMs = startMs + 3 * 24 * 60 * MINUTE_MS; atMs >= startMs; atMs -= MINUTE_MS) {
    const isOpenNow = isOpen([one], atMs);
    expect(isOpenNow).toBe(isInside(atMs));
    if (isOpenNow) openMs = atMs;
    if (openMs !== undefined) expect(nextOpening([one], atMs)).toBe(openMs);
  }
});

function mondays(count: number): string[] {
  const first = Date.parse('2026-11-30T00:00:00Z');
  return Array.from({ length: count }, (_, week) =>
    new Date(first + week * 7 * 24 * 60 * MINUTE_MS).toISOString().slice(0, 10),
  );
}
