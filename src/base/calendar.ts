import { createLruCache } from './lruCache.ts';

/** More than the time zones that agents of one node are in. */
const MAX_TIME_ZONES = 64;

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

/** Keeps a formatter for each time zone, since making one takes longer than the rest of a turn's preparation. */
export function createCalendar(): Calendar {
  const formatters = createLruCache<Intl.DateTimeFormat>(MAX_TIME_ZONES);
  return {
    dayIn(timeZone, atMs) {
      const known = formatters.get(timeZone);
      // Canadian English writes dates as ISO 8601 does.
      const formatter = known ?? new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
      if (!known) formatters.set(timeZone, formatter);
      return formatter.format(atMs);
    },
  };
}
