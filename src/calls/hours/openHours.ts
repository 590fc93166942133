import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import type { CallingWindow, Weekday } from '../../agents/accounts/callingHours.ts';
import { DAY_MS, MINUTE_MS } from '../../base/values/clock.ts';
import { timeZonesOfNumber } from '../../base/values/numberTimeZones.ts';
import { clockChanges, offsetMs } from '../../base/values/zoneOffset.ts';

/** 1970-01-01 was a Thursday; by the day of a local time since then. */
const WEEKDAYS: readonly Weekday[] = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed'];
/** A call is placed this long before its window closes at the latest: its INVITE goes out a moment after the check. */
const LAST_CALL_MS = 2_000;
/** Hours that are never open together within a year, by the weeks alone, never are: weeks and clock changes repeat. */
const YEAR_MS = 366 * DAY_MS;
/** Days that are excepted for longer count as excepted for ever. */
const LONGEST_WAIT_MS = 5 * YEAR_MS;
const WEEK_MS = 7 * DAY_MS;

/** Openings after the week that was asked for, which a list page or a campaign asks for again and again. */
const later = new LRUCache<string, { readonly opensMs: number | undefined }>({ max: 2_000 });

/** A part of a week that lies within one day, in milliseconds since its start; a week starts on Thursday. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Hours of the week that hold in each of some time zones: all their clocks must show an open hour. */
export interface OpenHours {
  /** IANA names. */
  readonly zones: readonly string[];
  /** The open stretches of a local week, in order and apart. */
  readonly week: readonly Stretch[];
  /** Local days without an open hour, by their start in milliseconds since the Unix epoch, as if it were UTC. */
  readonly exceptDays: ReadonlySet<number>;
}

/** Reads windows as users write them. @param exceptDates - Local dates, as `YYYY-MM-DD`. */
export function openHours(
  zones: readonly string[],
  windows: readonly CallingWindow[],
  exceptDates: readonly string[] = [],
): OpenHours {
  return { zones, week: weekOf(windows), exceptDays: new Set(exceptDates.map((date) => Date.parse(date))) };
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
 * @returns Milliseconds since the Unix epoch: `fromMs` where they are open; undefined where none is within five years.
 */
export function nextOpening(hours: readonly OpenHours[], fromMs: number): number | undefined {
  if (isOpen(hours, fromMs)) return fromMs;
  const weekEndMs = fromMs - (fromMs % WEEK_MS) + WEEK_MS;
  const soonMs = findOpening(hours, fromMs, weekEndMs);
  if (soonMs !== undefined) return soonMs;
  const key = `${weekEndMs} ${digestOf(hours)}`;
  const known = later.get(key) ?? { opensMs: findOpening(hours, weekEndMs, weekEndMs + LONGEST_WAIT_MS) };
  later.set(key, known);
  return known.opensMs;
}

const digestOf = (hours: readonly OpenHours[]) =>
  createHash('sha256')
    .update(JSON.stringify(hours.map(({ zones, week, exceptDays }) => [zones, week, [...exceptDays]])))
    .digest('base64');

/** Between two changes of any clock, each week has the same hours. */
function findOpening(hours: readonly OpenHours[], fromMs: number, toMs: number): number | undefined {
  let untilMs = Math.min(toMs, fromMs + YEAR_MS);
  for (let startMs = fromMs; startMs < untilMs; ) {
    const endMs = Math.min(untilMs, nextChangeMs(hours, startMs));
    const open = openInAll(hours, startMs);
    if (open.length > 0) untilMs = toMs;
    for (let weekMs = startMs - (startMs % WEEK_MS); open.length > 0 && weekMs < endMs; weekMs += WEEK_MS) {
      for (const stretch of open) {
        const atMs = Math.max(startMs, weekMs + stretch.fromMs);
        if (atMs < endMs && atMs < weekMs + stretch.toMs && isOpen(hours, atMs)) return atMs;
      }
    }
    startMs = endMs;
  }
  return undefined;
}

/** Returns the stretches of a week in UTC in which all hours are open, by the clocks at a moment. */
function openInAll(hours: readonly OpenHours[], atMs: number): readonly Stretch[] {
  let open: readonly Stretch[] = [{ fromMs: 0, toMs: WEEK_MS }];
  for (const { zones, week } of hours)
    for (const offset of new Set(zones.map((zone) => offsetMs(zone, atMs)))) {
      if (open.length === 0) return open;
      open = intersection(open, earlier(week, offset));
    }
  return open;
}

/** Returns when the next clock of the hours is put forward or back; a year from then at the latest. */
function nextChangeMs(hours: readonly OpenHours[], atMs: number): number {
  const changes = hours.flatMap(({ zones }) =>
    zones.map((zone) => clockChanges(zone, atMs + 1, atMs + YEAR_MS)[0] ?? Number.POSITIVE_INFINITY),
  );
  return Math.min(atMs + YEAR_MS, ...changes);
}

/** Returns the open stretches of a local week, in order. Windows of one day that overlap are one stretch. */
function weekOf(windows: readonly CallingWindow[]): Stretch[] {
  return WEEKDAYS.flatMap((weekday, day) => {
    const stretches: Stretch[] = [];
    const ofDay = windows
      .filter(({ days }) => days.includes(weekday))
      .map(({ from, to }) => ({ fromMs: day * DAY_MS + timeOfDay(from), toMs: day * DAY_MS + timeOfDay(to) }))
      .sort((one, other) => one.fromMs - other.fromMs);
    for (const { fromMs, toMs } of ofDay) {
      const last = stretches.at(-1);
      if (!last || last.toMs < fromMs) stretches.push({ fromMs, toMs });
      else stretches.splice(-1, 1, { fromMs: last.fromMs, toMs: Math.max(last.toMs, toMs) });
    }
    return stretches;
  });
}

/** Moves the stretches of a week to an earlier time; what leaves it at one end comes back at the other. */
function earlier(week: readonly Stretch[], byMs: number): Stretch[] {
  return week
    .flatMap(({ fromMs, toMs }) => {
      const startMs = (((fromMs - byMs) % WEEK_MS) + WEEK_MS) % WEEK_MS;
      const endMs = startMs + toMs - fromMs;
      if (endMs <= WEEK_MS) return [{ fromMs: startMs, toMs: endMs }];
      return [
        { fromMs: startMs, toMs: WEEK_MS },
        { fromMs: 0, toMs: endMs - WEEK_MS },
      ];
    })
    .sort((one, other) => one.fromMs - other.fromMs);
}

/** Both lists are in order, and their stretches apart. */
function intersection(some: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  const both: Stretch[] = [];
  for (let i = 0, j = 0; ; ) {
    const [one, other] = [some[i], others[j]];
    if (!one || !other) return both;
    const [fromMs, toMs] = [Math.max(one.fromMs, other.fromMs), Math.min(one.toMs, other.toMs)];
    if (fromMs < toMs) both.push({ fromMs, toMs });
    if (one.toMs < other.toMs) i += 1;
    else j += 1;
  }
}

function isOpenIn(hours: OpenHours, zone: string, atMs: number): boolean {
  return isInWindow(hours, zone, atMs) && isInWindow(hours, zone, atMs + LAST_CALL_MS);
}

function isInWindow({ week, exceptDays }: OpenHours, zone: string, atMs: number): boolean {
  const localMs = atMs + offsetMs(zone, atMs);
  if (exceptDays.has(localMs - (localMs % DAY_MS))) return false;
  const inWeekMs = localMs % WEEK_MS;
  return week.some(({ fromMs, toMs }) => inWeekMs >= fromMs && inWeekMs < toMs);
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}
