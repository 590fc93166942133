import type { InsightQuery } from '../insights/insightSearch.ts';

/** What lists, figures, the funnel and alerts filter conversations by. */
export const SESSION_FILTERS = [
  'release',
  'disposition',
  'success',
  'channel',
  'direction',
  'endReason',
  'trunkId',
  'campaignId',
  'language',
  'node',
  'provider',
] as const satisfies (keyof InsightQuery)[];
export type SessionFilter = (typeof SESSION_FILTERS)[number];
/** As they stand in an address; an empty one finds conversations without a value. */
export type SessionFilters = Readonly<Partial<Record<SessionFilter, string | undefined>>>;

export const CHANNELS = ['phone', 'chat', 'web'] as const satisfies InsightQuery['channel'][];

/** Reads an address, which may have been written by hand. */
export function readSessionFilters(search: object): SessionFilters {
  const values: Readonly<Record<string, unknown>> = { ...search };
  const given = SESSION_FILTERS.filter((name) => values[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(values[name])]));
}
