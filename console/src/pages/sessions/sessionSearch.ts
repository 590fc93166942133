import type { paths } from '../../api/schema.d.ts';
import { readSessionFilters, type SessionFilters } from './sessionFilters.ts';

type Query = NonNullable<paths['/v1/projects/{projectId}/session-history']['get']['parameters']['query']>;

export const STATUSES = ['active', 'ended'] as const satisfies Query['status'][];

/** The filters, as they stand in the page's address. */
export interface SessionSearch extends SessionFilters {
  readonly status?: Query['status'];
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Words that were said. */
  readonly q?: string | undefined;
}

/** Reads an address, which may have been written by hand. */
export function readSessionSearch(search: Readonly<Record<string, unknown>>): SessionSearch {
  const text = (name: string) =>
    search[name] === undefined || search[name] === '' ? undefined : String(search[name]);
  const moment = (name: string) => (Number.isNaN(Date.parse(text(name) ?? '')) ? undefined : text(name));
  const status = STATUSES.find((one) => one === search.status);
  return { ...readSessionFilters(search), status, from: moment('from'), to: moment('to'), q: text('q') };
}

/** The API's parameters, which refuses what an address has that it does not know. */
export const sessionQueryOf = (search: SessionSearch) => search as Query;
