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

/**
 * The moment as a person of that time zone reads it from calendar and clock.
 *
 * @param timeZone - IANA name.
 * @param atMs - Milliseconds since the Unix epoch.
 * @returns Such as `Sunday, 2026-11-22, 14:05 (Asia/Taipei, GMT+08:00)`.
 * @throws {RangeError} When the time zone does not exist.
 */
export function localMoment(timeZone: string, atMs: number): string {
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).formatToParts(atMs);
  const [weekday] = part({ weekday: 'long' });
  const time = part({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const offset = part({ timeZoneName: 'longOffset' }).find(({ type }) => type === 'timeZoneName');
  const clock = time.map(({ value }) => value).join('');
  // Node's versions differ in how they write no offset.
  const zone = offset?.value === 'GMT' ? 'GMT+00:00' : offset?.value;
  return `${weekday?.value}, ${localDate(timeZone, atMs)}, ${clock} (${timeZone}, ${zone})`;
}
