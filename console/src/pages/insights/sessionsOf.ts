import type { SessionFilter } from '../sessions/sessionFilters.ts';
import type { SessionSearch } from '../sessions/sessionSearch.ts';
import {
  filtersOf,
  type GroupBy,
  INTERVAL_MS,
  type InsightSearch,
  type Interval,
  type SeriesOf,
  spanOf,
} from './insightSearch.ts';

/** The filter of the list that finds the conversations of one series. */
const FILTER_OF: Readonly<Record<GroupBy, SessionFilter>> = {
  release: 'release',
  disposition: 'disposition',
  endReason: 'endReason',
  direction: 'direction',
  trunk: 'trunkId',
  campaign: 'campaignId',
  language: 'language',
  node: 'node',
  provider: 'provider',
};

interface Point {
  /** The figures that the point is of. */
  readonly search: InsightSearch;
  readonly groupBy: SeriesOf | undefined;
  /** ISO 8601, the beginning of its interval. */
  readonly at: string;
  readonly interval: Interval;
  /** Of its series; null for conversations without a value. */
  readonly key: string | null;
}

/** Returns the search for the conversations behind a point. */
export function sessionsOf({ search, groupBy, at, interval, key }: Point): SessionSearch {
  const isWhole = groupBy === undefined || groupBy === 'part' || groupBy === 'criterion';
  const filter = isWhole ? undefined : FILTER_OF[groupBy];
  const span = spanOf(search, Date.now());
  const end = new Date(Date.parse(at) + INTERVAL_MS[interval]).toISOString();
  return {
    ...filtersOf(search),
    ...(filter && { [filter]: key ?? '' }),
    status: 'ended',
    from: span.from !== undefined && span.from > at && interval !== 'hour' ? span.from : at,
    to: span.to !== undefined && span.to < end ? span.to : end,
  };
}

/** Returns the search for the conversations that ended at a node, in whole days of UTC as the funnel has them. */
export function sessionsEndedAt(search: InsightSearch, nodeId: string): SessionSearch {
  const { from, to } = spanOf(search, Date.now());
  const day = (time: string | undefined, round: (days: number) => number) =>
    time && new Date(round(Date.parse(time) / INTERVAL_MS.day) * INTERVAL_MS.day).toISOString();
  return {
    ...filtersOf(search),
    node: nodeId,
    status: 'ended',
    from: day(from, Math.floor),
    to: day(to, Math.ceil),
  };
}
