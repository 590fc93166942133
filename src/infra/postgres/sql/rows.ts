import type { Page, PageOf } from '../../../base/page.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** Formats a timestamp of the drivers for the API. */
export function isoTime(value: Date | string): string {
  return new Date(value).toISOString();
}

export function isoTimeOrNull(value: Date | string | null): string | null {
  return value === null ? null : isoTime(value);
}

/**
 * Reads a page of a list and the total count.
 *
 * @param select - A complete SELECT with ORDER BY, without LIMIT.
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
  // A partly filled page is the last one: the total is known without a query.
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
