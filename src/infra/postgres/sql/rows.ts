import type { Page, PageOf } from '../../../base/page.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** A timestamp as the drivers give it, in the form that the API shows. */
export function isoTime(value: Date | string): string {
  return new Date(value).toISOString();
}

export function isoTimeOrNull(value: Date | string | null): string | null {
  return value === null ? null : isoTime(value);
}

/**
 * One part of a list, and the count of all of it.
 *
 * @param select - A whole SELECT with its order, without LIMIT.
 */
export async function queryPage<Row>(
  database: Queryable,
  select: string,
  parameters: readonly Parameter[],
  page: Page,
): Promise<PageOf<Row>> {
  const next = parameters.length + 1;
  const items = await database.query<Row>(`${select} LIMIT $${next} OFFSET $${next + 1}`, [
    ...parameters,
    page.limit,
    page.offset,
  ]);
  // A part that is neither full nor empty ends the list, which tells the count without asking.
  if (items.length > 0 && items.length < page.limit) return { items, total: page.offset + items.length };
  const [count] = await database.query<{ total: number }>(
    `SELECT count(*)::integer AS total FROM (${select}) AS everything`,
    parameters,
  );
  return { items, total: count?.total ?? 0 };
}

export function mapPage<From, To>(page: PageOf<From>, map: (item: From) => To): PageOf<To> {
  return { items: page.items.map(map), total: page.total };
}
