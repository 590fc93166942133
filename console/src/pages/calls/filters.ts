import type { components } from '../../api/schema.d.ts';

type Call = components['schemas']['Call'];

export const STATUSES = ['completed', 'failed', 'busy', 'no_answer', 'canceled', 'scheduled'] as const;
export const DIRECTIONS = ['inbound', 'outbound'] as const;

/** As they stand in the page's address. */
export interface CallFilters {
  readonly status?: Call['status'] | undefined;
  readonly direction?: Call['direction'] | undefined;
  /** Words that were said. */
  readonly q?: string | undefined;
  readonly number?: string | undefined;
  /** Dates; `to` is the last day. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly violations?: boolean | undefined;
  readonly tests?: boolean | undefined;
  readonly campaignId?: string | undefined;
}

/** Reads an address, which may have been written by hand. */
export function readFilters(search: Readonly<Record<string, unknown>>): CallFilters {
  const text = (name: string) => (search[name] === undefined ? undefined : String(search[name]));
  const date = (name: string) => (/^\d{4}-\d\d-\d\d$/.test(text(name) ?? '') ? text(name) : undefined);
  const filters: CallFilters = {
    status: STATUSES.find((one) => one === search.status),
    direction: DIRECTIONS.find((one) => one === search.direction),
    q: text('q') || undefined,
    number: text('number')?.replace(/[^\d+]/g, '') || undefined,
    from: date('from'),
    to: date('to'),
    violations: search.violations === true || undefined,
    tests: search.tests === true || undefined,
    campaignId: text('campaignId') || undefined,
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

/** The API's parameters. Days are the browser's. */
export function queryOf(filters: CallFilters) {
  const { status, direction, q, number, from, to, violations, tests, campaignId } = filters;
  const startOf = (day: string, plusDays: number) => {
    const date = new Date(`${day}T00:00:00`);
    date.setDate(date.getDate() + plusDays);
    return date.toISOString();
  };
  return {
    status,
    direction,
    q,
    number,
    from: from && startOf(from, 0),
    to: to && startOf(to, 1),
    violations: violations ? ('true' as const) : undefined,
    includeTests: tests ? ('true' as const) : undefined,
    campaignId,
  };
}
