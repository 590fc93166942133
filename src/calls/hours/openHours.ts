import type { CallingWindow, Weekday } from '../../agents/accounts/callingHours.ts';
import { DAY_MS, MINUTE_MS } from '../../base/values/clock.ts';
import { instantsOf } from '../../base/values/localTime.ts';
import { timeZonesOfNumber } from '../../base/values/numberTimeZones.ts';
import { clockChanges, offsetMs } from '../../base/values/zoneOffset.ts';

/** 1970-01-01 was a Thursday; by the day of a local time since then. */
const WEEKDAYS: readonly Weekday[] = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed'];
/** A call is placed this long before its window closes at the latest: its INVITE goes out a moment after the check. */
const LAST_CALL_MS = 2_000;
/** Weeks repeat: beyond a year, and a week for each excepted day, only what was closed comes. */
const LONGEST_WAIT_DAYS = 366;

/** Hours of the week that hold in each of some time zones: all their clocks must show an open hour. */
export interface OpenHours {
  readonly windows: readonly CallingWindow[];
  /** Closed days, as `YYYY-MM-DD`. */
  readonly exceptDates: readonly string[];
  /** IANA names. */
  readonly zones: readonly string[];
}

/** The zones whose clocks count for a number. @param number - In E.164. */
export function zonesFor(timezone: string, number: string): readonly string[] {
  return timezone === 'callee' ? timeZonesOfNumber(number) : [timezone];
}

/** Tells whether a call may be placed by all hours. @param atMs - Milliseconds since the Unix epoch. */
export function isOpen(hours: readonly OpenHours[], atMs: number): boolean {
  return hours.every((one) => one.zones.every((zone) => isOpenIn(one, zone, atMs)));
}

/**
 * Finds the first moment at which all hours are open.
 *
 * @param fromMs - Not before it, in milliseconds since the Unix epoch.
 * @returns Milliseconds since the Unix epoch: `fromMs` where they are open; undefined where none is within a year, and a week
 *   more for each excepted day.
 */
export function nextOpening(hours: readonly OpenHours[], fromMs: number): number | undefined {
  const excepted = hours.reduce((days, { exceptDates }) => days + exceptDates.length, 0);
  const untilMs = fromMs + (LONGEST_WAIT_DAYS + 7 * excepted) * DAY_MS;
  let atMs = fromMs;
  while (!isOpen(hours, atMs)) {
    for (const one of hours) {
      for (const zone of one.zones) {
        const opensMs = nextOpeningIn(one, zone, atMs, untilMs);
        if (opensMs === undefined) return undefined;
        atMs = opensMs;
      }
    }
  }
  return atMs;
}

function isOpenIn(hours: OpenHours, zone: string, atMs: number): boolean {
  return isInWindow(hours, zone, atMs) && isInWindow(hours, zone, atMs + LAST_CALL_MS);
}

function isInWindow({ windows, exceptDates }: OpenHours, zone: string, atMs: number): boolean {
  const localMs = atMs + offsetMs(zone, atMs);
  const dayMs = startOfDay(localMs);
  return (
    windowsOf(windows, dayMs).some(({ from, to }) => {
      return localMs >= dayMs + timeOfDay(from) && localMs < dayMs + timeOfDay(to);
    }) && !exceptDates.includes(dateOf(dayMs))
  );
}

function nextOpeningIn(hours: OpenHours, zone: string, fromMs: number, untilMs: number): number | undefined {
  if (isOpenIn(hours, zone, fromMs)) return fromMs;
  let dayMs = startOfDay(fromMs + offsetMs(zone, fromMs));
  for (; dayMs < untilMs + DAY_MS; dayMs += DAY_MS) {
    if (hours.exceptDates.includes(dateOf(dayMs))) continue;
    const starts = windowsOf(hours.windows, dayMs).map(({ from }) => dayMs + timeOfDay(from));
    // Clocks that are put forward may skip the start of a window, and clocks that are put back show its hours once more.
    const moments = [
      ...starts.flatMap((localMs) => instantsOf(localMs, zone)),
      ...clockChanges(zone, dayMs - DAY_MS, dayMs + 2 * DAY_MS).filter(
        (atMs) => startOfDay(atMs + offsetMs(zone, atMs)) === dayMs,
      ),
    ].filter((atMs) => atMs >= fromMs && isOpenIn(hours, zone, atMs));
    if (moments.length > 0) return Math.min(...moments);
  }
  return undefined;
}

function windowsOf(windows: readonly CallingWindow[], dayMs: number): CallingWindow[] {
  const weekday = WEEKDAYS[(dayMs / DAY_MS) % WEEKDAYS.length];
  return windows.filter(({ days }) => days.some((day) => day === weekday));
}

function startOfDay(localMs: number): number {
  return localMs - (localMs % DAY_MS);
}

function dateOf(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}
