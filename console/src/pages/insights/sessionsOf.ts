import type { SessionSearch } from '../sessions/sessionSearch.ts';
import {
  FILTERS,
  INTERVAL_MS,
  type InsightSearch,
  type Interval,
  type SeriesOf,
  spanOf,
} from './insightSearch.ts';

/** What the list of conversations filters by too. */
const LISTED = ['release', 'disposition', 'success', 'channel'] as const;

interface Point {
  /** The figures that the point is of. */
  readonly search: InsightSearch;
  readonly groupBy: SeriesOf | undefined;
  /** ISO 8601, the beginning of its interval. */
  readonly at: string;
  readonly interval: Interval;
  /** Of its series. */
  readonly key: string | null;
}

/** Returns the search for the conversations behind a point; undefined for those that the list cannot tell from others. */
export function sessionsOf({ search, groupBy, at, interval, key }: Point): SessionSearch | undefined {
  const isListed = (name: string | undefined) => LISTED.some((one) => one === name);
  if (FILTERS.some((name) => search[name] !== undefined && !isListed(name))) return undefined;
  const isOne = groupBy !== undefined && groupBy !== 'part' && groupBy !== 'criterion';
  if (isOne && (key === null || !isListed(groupBy))) return undefined;
  const span = spanOf(search, Date.now());
  const end = new Date(Date.parse(at) + INTERVAL_MS[interval]).toISOString();
  return {
    release: search.release,
    disposition: search.disposition,
    success: search.success,
    channel: search.channel,
    ...(isOne && { [groupBy]: key }),
    from: span.from !== undefined && span.from > at && interval !== 'hour' ? span.from : at,
    to: span.to !== undefined && span.to < end ? span.to : end,
  };
}
