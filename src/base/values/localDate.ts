import { LRUCache } from 'lru-cache';

/** A formatter takes 0.4 ms to create, and each turn tells the model the time. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 });

/**
 * The calendar date in a time zone.
 *
 * @param timeZone - IANA name.
 * @param atMs - Milliseconds since the Unix epoch.
 * @returns `YYYY-MM-DD`.
 * @throws {RangeError} When the time zone does not exist.
 */
export function localDate(timeZone: string, atMs: number): string {
  // Canadian English writes dates as ISO 8601 does.
  return formatterOf('en-CA', timeZone, { dateStyle: 'short' }).format(atMs);
}

/**
 * The moment as a person of that time zone reads it from calendar and clock.
 *
 * @param timeZone - IANA name.
 * @param atMs - Milliseconds since the Unix epoch.
 * @returns The moment, such as `Sunday, 2026-11-22, 14:05 (Asia/Taipei, GMT+08:00)`.
 * @throws {RangeError} When the time zone does not exist.
 */
export function localMoment(timeZone: string, atMs: number): string {
  const parts = formatterOf('en-GB', timeZone, {
    hourCycle: 'h23',
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  }).formatToParts(atMs);
  const part = (wanted: Intl.DateTimeFormatPartTypes) => parts.find(({ type }) => type === wanted)?.value;
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  // Node's versions differ in how they write no offset.
  const offset = part('timeZoneName') === 'GMT' ? 'GMT+00:00' : part('timeZoneName');
  return `${part('weekday')}, ${date}, ${part('hour')}:${part('minute')} (${timeZone}, ${offset})`;
}

/** Returns a cached formatter: each caller has a locale of its own, and always the same options. */
function formatterOf(
  locale: string,
  timeZone: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = `${locale} ${timeZone}`;
  const known = formatters.get(key);
  if (known) return known;
  const formatter = new Intl.DateTimeFormat(locale, { ...options, timeZone });
  formatters.set(key, formatter);
  return formatter;
}
