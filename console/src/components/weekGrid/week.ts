/** Days as the API names them, in the order of ISO 8601. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

/** Hours of some days, as the API has them: `to` is exclusive, and at most `24:00`. */
export interface HoursWindow {
  days: Day[];
  from: string;
  to: string;
}

/** In minutes of a day; the end is exclusive. */
export type Span = readonly [from: number, to: number];

/** The open spans of each day from Monday on: in order, none touches the next. */
export type Week = readonly (readonly Span[])[];

export const HOURS_PER_DAY = 24;
const MINUTES_PER_HOUR = 60;

export const hourSpan = (hour: number): Span => [hour * MINUTES_PER_HOUR, (hour + 1) * MINUTES_PER_HOUR];

export function weekOf(windows: readonly HoursWindow[]): Week {
  return DAYS.map((day) =>
    merged(
      windows
        .filter(({ days }) => days.includes(day))
        .map(({ from, to }) => [minutesOf(from), minutesOf(to)]),
    ),
  );
}

/** Returns the windows of a week: days that have a span in common share a window. */
export function windowsOf(week: Week): HoursWindow[] {
  const byHours = new Map<string, HoursWindow>();
  for (const [place, day] of DAYS.entries())
    for (const span of week[place] ?? []) {
      const [from, to] = span.map(timeOf) as [string, string];
      const window = byHours.get(`${from}-${to}`) ?? { days: [], from, to };
      window.days.push(day);
      byHours.set(`${from}-${to}`, window);
    }
  return [...byHours.values()];
}

/** Opens a span of a day, or closes it. */
export function withSpan(week: Week, place: number, [from, to]: Span, isOpen: boolean): Week {
  return week.map((spans, index) => {
    if (index !== place) return spans;
    if (isOpen) return merged([...spans, [from, to]]);
    return spans
      .flatMap(([start, end]): Span[] => [
        [start, Math.min(end, from)],
        [Math.max(start, to), end],
      ])
      .filter(([start, end]) => start < end);
  });
}

/** How much of a span of a day is open. */
export function opennessOf(week: Week, place: number, [from, to]: Span): 'open' | 'part' | 'closed' {
  const spans = (week[place] ?? []).filter(([start, end]) => start < to && end > from);
  if (spans.some(([start, end]) => start <= from && end >= to)) return 'open';
  return spans.length > 0 ? 'part' : 'closed';
}

function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    const last = result.at(-1);
    if (last && from <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * MINUTES_PER_HOUR + minutes;
}

function timeOf(minutes: number): string {
  const parts = [Math.floor(minutes / MINUTES_PER_HOUR), minutes % MINUTES_PER_HOUR];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
