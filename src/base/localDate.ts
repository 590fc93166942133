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
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(atMs);
}
