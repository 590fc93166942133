import { createLruCache } from './lruCache.ts';

/** More than the time zones that agents of one node are in. */
const MAX_TIME_ZONES = 64;

/** No time zone's day begins within one: offsets are whole quarters of an hour. */
const QUARTER_HOUR_MILLISECONDS = 15 * 60_000;

/** Tells what day it is, somewhere. */
export interface Calendar {
  /**
   * @param timeZone - IANA name.
   * @param atMs - Milliseconds since the Unix epoch.
   * @returns The day as `YYYY-MM-DD`.
   * @throws {RangeError} When there is no such time zone.
   */
  dayIn(timeZone: string, atMs: number): string;
}

interface Zone {
  readonly formatter: Intl.DateTimeFormat;
  /** What it said last, and of which quarter of an hour. */
  last: { readonly quarter: number; readonly day: string } | undefined;
}

/** Keeps a formatter for each time zone, since making one takes longer than the rest of a turn's preparation. */
export function createCalendar(): Calendar {
  const zones = createLruCache<Zone>(MAX_TIME_ZONES);
  const zoneOf = (timeZone: string): Zone => {
    const known = zones.get(timeZone);
    if (known) return known;
    // Canadian English writes dates as ISO 8601 does.
    const formatter = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
    const zone: Zone = { formatter, last: undefined };
    zones.set(timeZone, zone);
    return zone;
  };
  return {
    dayIn(timeZone, atMs) {
      const zone = zoneOf(timeZone);
      const quarter = Math.floor(atMs / QUARTER_HOUR_MILLISECONDS);
      if (zone.last?.quarter !== quarter) zone.last = { quarter, day: zone.formatter.format(atMs) };
      return zone.last.day;
    },
  };
}
