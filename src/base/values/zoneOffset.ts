import { LRUCache } from 'lru-cache';

import { DAY_MS, MINUTE_MS } from './clock.ts';

/** Clocks are never changed twice within it. */
const STEP_MS = 7 * DAY_MS;

/** A stretch of time in which the clocks of a zone keep their distance from UTC. */
interface Span {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** A year of a zone costs 0.5 ms to find: calling hours are asked for each of a million numbers. */
const years = new LRUCache<string, readonly Span[]>({ max: 2_000 });

/**
 * Returns how far the clocks of a time zone are ahead of UTC.
 *
 * @param timeZone - IANA name.
 * @param atMs - Milliseconds since the Unix epoch.
 * @throws {RangeError} When the time zone does not exist.
 */
export function offsetMs(timeZone: string, atMs: number): number {
  return spansOf(timeZone, atMs).findLast(({ fromMs }) => fromMs <= atMs)?.offsetMs ?? 0;
}

/**
 * Returns when the clocks of a time zone are put forward or back.
 *
 * @param fromMs - From there on, in milliseconds since the Unix epoch.
 * @param toMs - Until before then.
 * @returns Milliseconds since the Unix epoch, in order.
 */
export function clockChanges(timeZone: string, fromMs: number, toMs: number): number[] {
  const spans = new Set([...spansOf(timeZone, fromMs), ...spansOf(timeZone, toMs)]);
  return [...spans]
    .filter((span) => span.fromMs >= fromMs && span.fromMs < toMs)
    .filter((span) => offsetMs(timeZone, span.fromMs - 1) !== span.offsetMs)
    .map((span) => span.fromMs);
}

/** The spans of the moment's year, the first of which begins with the year, in UTC. */
function spansOf(timeZone: string, atMs: number): readonly Span[] {
  const year = new Date(atMs).getUTCFullYear();
  const key = `${timeZone} ${year}`;
  const known = years.get(key);
  if (known) return known;
  const spans = findSpans(timeZone, Date.UTC(year), Date.UTC(year + 1));
  years.set(key, spans);
  return spans;
}

function findSpans(timeZone: string, startMs: number, endMs: number): Span[] {
  const offsetAt = offsetReader(timeZone);
  const spans = [{ fromMs: startMs, offsetMs: offsetAt(startMs) }];
  for (let atMs = startMs; atMs < endMs; atMs += STEP_MS) {
    const nextMs = Math.min(atMs + STEP_MS, endMs - MINUTE_MS);
    const offset = offsetAt(nextMs);
    if (offset === spans.at(-1)?.offsetMs) continue;
    spans.push({ fromMs: changeBetween(atMs, nextMs, offsetAt), offsetMs: offset });
  }
  return spans;
}

/** Finds the minute from which on the offset is another one. */
function changeBetween(beforeMs: number, afterMs: number, offsetAt: (atMs: number) => number): number {
  const before = offsetAt(beforeMs);
  let [low, high] = [beforeMs / MINUTE_MS, afterMs / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

function offsetReader(timeZone: string): (atMs: number) => number {
  // Swedish writes date and time as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (atMs) => Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`) - atMs;
}
