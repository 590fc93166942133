import type { paths } from '../../api/schema.d.ts';
import { readSessionFilters, type SessionFilters } from '../sessions/sessionFilters.ts';

/** What the API takes. */
export type InsightQuery = NonNullable<
  paths['/v1/projects/{projectId}/insights']['get']['parameters']['query']
>;
export type Metric = InsightQuery['metric'];
export type GroupBy = (typeof GROUPS)[number];
/** What the series are of: a metric may have one for each value without a group. */
export type SeriesOf = GroupBy | 'part' | 'criterion';
export type Interval = NonNullable<InsightQuery['interval']>;

/** In the order in which they are offered. */
export const METRICS = [
  'sessions',
  'calls',
  'answered',
  'minutes',
  'turns',
  'duration',
  'success',
  'dispositions',
  'evaluation',
  'endReasons',
  'latency',
  'latencyP95',
  'cost',
  'error',
  'toolFailures',
  'interruptions',
  'transfers',
  'judgeAgreement',
] as const satisfies Metric[];

export const GROUPS = [
  'release',
  'disposition',
  'endReason',
  'direction',
  'trunk',
  'campaign',
  'language',
  'node',
  'provider',
] as const satisfies InsightQuery['groupBy'][];
export const INTERVALS = ['hour', 'day', 'week'] as const satisfies Interval[];
/** Days of a range that ends now. */
export const RANGES = [1, 7, 30, 90] as const;
export const TABS = ['figures', 'funnel', 'alerts'] as const;

const DEFAULT_DAYS = 30;
export const INTERVAL_MS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

/** The page's address. */
export interface InsightSearch extends SessionFilters {
  readonly tab?: (typeof TABS)[number] | undefined;
  readonly metric?: Metric | undefined;
  readonly groupBy?: GroupBy | undefined;
  readonly interval?: Interval | undefined;
  readonly days?: (typeof RANGES)[number] | undefined;
  /** Dates in UTC, in place of `days`; `to` is the last day. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Reads an address, which may have been written by hand. */
export function readInsightSearch(search: Readonly<Record<string, unknown>>): InsightSearch {
  const among = <Value>(values: readonly Value[], name: string) => values.find((one) => one === search[name]);
  const date = (name: string) =>
    /^\d{4}-\d\d-\d\d$/.test(String(search[name])) ? String(search[name]) : undefined;
  return {
    ...readSessionFilters(search),
    tab: among(TABS, 'tab'),
    metric: among(METRICS, 'metric'),
    groupBy: among(GROUPS, 'groupBy'),
    interval: among(INTERVALS, 'interval'),
    days: among(RANGES, 'days'),
    from: date('from'),
    to: date('to'),
  };
}

/** Today by hours from the browser's midnight, else whole days in UTC: the API's intervals are in UTC. */
export function spanOf({ days = DEFAULT_DAYS, from, to }: InsightSearch, nowMs: number) {
  if (from !== undefined || to !== undefined) {
    const end = to === undefined ? undefined : new Date(Date.parse(to) + INTERVAL_MS.day).toISOString();
    return { from: from && `${from}T00:00:00.000Z`, to: end };
  }
  const today = new Date(nowMs);
  if (days === 1) return { from: new Date(today.setHours(0, 0, 0, 0)).toISOString(), to: undefined };
  const first = today.setUTCHours(0, 0, 0, 0) - (days - 1) * INTERVAL_MS.day;
  return { from: new Date(first).toISOString(), to: undefined };
}

export const intervalOf = ({ interval, days, from, to }: InsightSearch): Interval =>
  interval ?? (days === 1 && from === undefined && to === undefined ? 'hour' : 'day');

/** @param search - The address, whose filters are those of the API. */
export const filtersOf = (search: InsightSearch) => readSessionFilters(search) as Partial<InsightQuery>;

/** The beginnings of all intervals of a span, in milliseconds. @param firstMs - The earliest that is known, where the span has no beginning. */
export function timesOf(search: InsightSearch, firstMs: number, nowMs: number): number[] {
  const { from, to } = spanOf(search, nowMs);
  const interval = intervalOf(search);
  const stepMs = INTERVAL_MS[interval];
  // The first of January 1970 was a Thursday; weeks begin on Monday.
  const offsetMs = interval === 'week' ? 4 * INTERVAL_MS.day : 0;
  const fromMs = from === undefined ? firstMs : Date.parse(from);
  const startMs = Math.floor((fromMs - offsetMs) / stepMs) * stepMs + offsetMs;
  const endMs = to === undefined ? nowMs : Date.parse(to);
  return Array.from(
    { length: Math.max(1, Math.ceil((endMs - startMs) / stepMs)) },
    (_, n) => startMs + n * stepMs,
  );
}
