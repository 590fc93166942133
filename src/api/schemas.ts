import { z } from 'zod';
import { invalid } from '../base/errors.ts';
import { MAX_CURSOR_CHARACTERS } from '../base/values/cursor.ts';
import type { Page, PageOf } from '../base/values/page.ts';
import type { Tag } from './tags.ts';

/** The longest search text. A search compares each of its characters with every text. */
export const MAX_SEARCH_CHARACTERS = 500;
export const MAX_LIST_LIMIT = 200;
export const DEFAULT_LIST_LIMIT = 50;
export const MAX_OFFSET = 1_000_000_000;

/** The body of every error response but 401. */
export const errorResponse = z
  .looseObject({
    error: z.string().describe('What was wrong, and what would be right.'),
    code: z.string().describe('Stable, for programs.'),
    details: z
      .array(
        z.object({ path: z.string().describe('JSON pointer into the request body.'), message: z.string() }),
      )
      .optional(),
  })
  .meta({ id: 'Error' });

const unauthenticatedResponse = z
  .object({ error: z.object({ message: z.string(), code: z.string() }) })
  .meta({ id: 'Unauthenticated' });

/** An integer in a query string. */
export function queryInteger(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .pipe(z.int().min(minimum, message).max(maximum, message));
}

/** A boolean in a query string. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Filters by what the analysis of a session says. */
export const outcomeFilters = {
  disposition: z.string().min(1).max(64).optional().describe('The disposition that the analysis chose.'),
  success: flag
    .optional()
    .describe('Whether the disposition is a success; without it, also those that say nothing.'),
};

/** Values in a query string, separated by commas or repeated. */
export function commaList<Item extends z.ZodType<string, string>>(item: Item) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((list) => list.split(',')))
    .pipe(z.array(item));
}

/** A time in a query string, or a date: its beginning in UTC. */
export const moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    '{field} must be a time such as 2026-01-31T09:30:00Z or a date such as 2026-01-31',
  )
  .transform((text) => new Date(text).toISOString());

/** @throws {CallwayError} 400 where a range of time ends before it begins. */
export function requireOrder({ from, to }: { from?: string | undefined; to?: string | undefined }): void {
  if (from === undefined || to === undefined || from <= to) return;
  const message = 'from must not be later than to';
  throw invalid('invalid_request', message, [{ path: '/from', message }]);
}

/** The cursor at which a page begins. */
export const cursor = z
  .string()
  .min(1)
  .max(MAX_CURSOR_CHARACTERS)
  .describe(
    '`nextCursor` of the page before, with the same filters. Unlike an offset it is as fast at the end of a long list as at its beginning, and what is added meanwhile shifts nothing.',
  );

export const pageQuery = z.object({
  limit: queryInteger(1, MAX_LIST_LIMIT).default(DEFAULT_LIST_LIMIT),
  offset: queryInteger(0, MAX_OFFSET).default(0),
  cursor: cursor.optional(),
});
export type PageQuery = z.output<typeof pageQuery>;

export const pagination = z.object({
  limit: z.int(),
  offset: z.int().describe('0 with a cursor.'),
  total: z.int().describe('With a cursor: as it was when the first page was read.'),
  nextCursor: z.string().nullable().describe('Give it as `cursor` for the next page; null at the end.'),
});

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), pagination });
}

export function listResponse<Item>(page: PageOf<Item>, query: PageQuery) {
  return { data: page.items, pagination: paginationOf(page, query) };
}

export function paginationOf(page: PageOf<unknown>, { limit, offset }: Page) {
  return { limit, offset, total: page.total, nextCursor: page.nextCursor };
}

export const projectParams = z.object({ projectId: z.string() });

export const noContent = z.null().describe('Done. The response has no body.');

export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 410
  | 412
  | 413
  | 415
  | 422
  | 429
  | 500
  | 502
  | 503;

/** The statuses that every protected route may answer. */
const COMMON_STATUSES: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500, 503];
const BODY_STATUSES: readonly ErrorStatus[] = [413, 415];

/** The error responses of a route; `body` adds those of a request body. */
export function errors(...more: readonly (ErrorStatus | 'body')[]) {
  const statuses = [
    ...COMMON_STATUSES,
    ...more.flatMap((item) => (item === 'body' ? BODY_STATUSES : [item])),
  ];
  return Object.fromEntries(
    statuses.map((status) => [status, status === 401 ? unauthenticatedResponse : errorResponse]),
  ) as Record<ErrorStatus, typeof errorResponse>;
}

/** A route's entry in the OpenAPI document. */
export function about(tag: Tag, summary: string, description?: string) {
  return { tags: [tag], summary, description, security: [{ bearer: [] }] };
}
