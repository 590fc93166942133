import { DAY_MS } from './clock.ts';
import { offsetMs } from './zoneOffset.ts';

const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::00(?:\.0+)?)?$/;

/**
 * Reads a local time.
 *
 * @param text - `YYYY-MM-DDTHH:MM`, without an offset.
 * @returns The milliseconds since the Unix epoch if it were UTC; undefined for what is no date and time.
 */
export function parseLocalTime(text: string): number | undefined {
  const [, date, time] = LOCAL_TIME.exec(text) ?? [];
  if (date === undefined || time === undefined) return undefined;
  const ms = Date.parse(`${date}T${time}:00Z`);
  // A day that its month does not have would be a day of the next one.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date) ? ms : undefined;
}

/**
 * Returns when the clocks of a time zone show a local time.
 *
 * @param localMs - Local time in milliseconds, as {@link parseLocalTime} returns it.
 * @param timeZone - IANA name.
 * @returns Milliseconds since the Unix epoch, in order: none when the clocks skip the time, two when it comes twice.
 */
export function instantsOf(localMs: number, timeZone: string): number[] {
  const offsets = new Set([localMs - DAY_MS, localMs + DAY_MS].map((atMs) => offsetMs(timeZone, atMs)));
  return [...offsets]
    .map((offset) => ({ offset, atMs: localMs - offset }))
    .filter(({ offset, atMs }) => offsetMs(timeZone, atMs) === offset)
    .map(({ atMs }) => atMs)
    .sort((one, other) => one - other);
}
