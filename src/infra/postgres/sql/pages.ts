import { z } from 'zod';

import { readCursor, writeCursor } from '../../../base/values/cursor.ts';
import type { Page, PageOf } from '../../../base/values/page.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** A list in a fixed order. An index with its condition and order makes every page equally fast. */
export interface List {
  /** The name, which distinguishes the cursors of lists. */
  readonly name: string;
  readonly columns: string;
  /** The table with its joins. */
  readonly from: string;
  readonly where: string;
  readonly parameters: readonly Parameter[];
  /** The columns, which together are unique. */
  readonly order: readonly OrderColumn[];
  /** The direction of all columns. */
  readonly direction: 'ASC' | 'DESC';
}

export interface OrderColumn {
  readonly column: string;
  readonly type: keyof typeof TYPES;
}

/** The conversions of a value to a cursor and back. Times are in microseconds, which are exact as numbers. */
const TYPES = {
  time: {
    schema: z.int(),
    select: (column: string) => `(extract(epoch FROM ${column}) * 1000000)::bigint`,
    parameter: (place: string) => `timestamptz 'epoch' + ${place}::float8 * interval '1 microsecond'`,
  },
  uuid: { schema: z.guid(), select: itself, parameter: (place: string) => `${place}::uuid` },
  text: { schema: z.string(), select: itself, parameter: (place: string) => `${place}::text` },
  integer: { schema: z.int32(), select: itself, parameter: (place: string) => `${place}::integer` },
  boolean: { schema: z.boolean(), select: itself, parameter: (place: string) => `${place}::boolean` },
} as const;

/**
 * Reads a page of a list. Its items are counted for the first page; the cursor hands the number on, since counting takes
 * the longer the more there are.
 */
export async function queryPage<Row extends object>(
  database: Queryable,
  list: List,
  page: Page,
): Promise<PageOf<Row>> {
  const { name, columns, from, where, order, direction } = list;
  const scope = [name, ...list.parameters] as const;
  const [total, ...keys] = readCursor(page, scope, positionOf(list)) ?? [];
  const parameters = [...list.parameters, ...keys];
  const next = parameters.length + 1;
  const rows = await database.query<Row & { readonly cursor_position: unknown[] }>(
    `SELECT ${columns}, json_build_array(${order.map(selected).join(', ')}) AS cursor_position
     FROM ${from} WHERE ${where} ${keys.length > 0 ? `AND ${behind(list)}` : ''}
     ORDER BY ${order.map(({ column }) => `${column} ${direction}`).join(', ')}
     LIMIT $${next} OFFSET $${next + 1}`,
    [...parameters, page.limit + 1, page.offset],
  );
  const shown = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? shown.at(-1) : undefined;
  const counted = total ?? (await count(database, list, page, rows.length));
  return {
    items: shown.map(({ cursor_position, ...row }) => row as unknown as Row),
    total: counted,
    nextCursor: last ? writeCursor(scope, [counted, ...last.cursor_position]) : null,
  };
}

/** @param found - Rows from the page's offset on, at most one more than its limit. */
async function count(
  database: Queryable,
  list: List,
  { limit, offset }: Page,
  found: number,
): Promise<number> {
  const reachesEnd = found <= limit && (found > 0 || offset === 0);
  if (reachesEnd) return offset + found;
  const [row] = await database.query<{ total: number }>(
    `SELECT count(*)::integer AS total FROM ${list.from} WHERE ${list.where}`,
    list.parameters,
  );
  return row?.total ?? 0;
}

/** The total, and a value of each column of the order. */
function positionOf({ order }: List) {
  return z.tuple([z.int().min(0), ...order.map(({ type }) => TYPES[type].schema)]) as unknown as z.ZodType<
    [total: number, ...keys: Parameter[]]
  >;
}

function selected({ column, type }: OrderColumn): string {
  return TYPES[type].select(column);
}

/** The condition for the rows behind a position; an index with the order begins there. */
function behind({ order, direction, parameters }: List): string {
  const places = order.map(({ type }, index) => TYPES[type].parameter(`$${parameters.length + index + 1}`));
  const columns = order.map(({ column }) => column);
  return `(${columns.join(', ')}) ${direction === 'ASC' ? '>' : '<'} (${places.join(', ')})`;
}

function itself(column: string): string {
  return column;
}
