import { z } from 'zod';

import type { PageOf } from '../base/page.ts';

export const MAX_LIST_LIMIT = 200;
export const DEFAULT_LIST_LIMIT = 50;
export const MAX_OFFSET = 1_000_000_000;

const detail = z.object({
  path: z.string().describe('JSON pointer into what was sent.'),
  message: z.string(),
});

/** The shape of every error but 401. */
export const errorAnswer = z
  .looseObject({
    error: z.string().describe('What was wrong, and what would be right.'),
    code: z.string().describe('Stable, for programs.'),
    details: z.array(detail).optional(),
  })
  .meta({ id: 'Error' });

export const unauthenticatedAnswer = z
  .object({ error: z.object({ message: z.string(), code: z.string() }) })
  .meta({ id: 'Unauthenticated' });

/** A number in a query string. */
export function queryInteger(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .pipe(z.int().min(minimum, message).max(maximum, message));
}

export const pageQuery = z.object({
  limit: queryInteger(1, MAX_LIST_LIMIT).default(DEFAULT_LIST_LIMIT),
  offset: queryInteger(0, MAX_OFFSET).default(0),
});

export const pagination = z.object({ limit: z.int(), offset: z.int(), total: z.int() });

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), pagination });
}

export function listAnswer<Item>(page: PageOf<Item>, query: { limit: number; offset: number }) {
  return { data: page.items, pagination: { limit: query.limit, offset: query.offset, total: page.total } };
}

export const projectParams = z.object({ projectId: z.string() });

export const noContent = z.null().describe('Done; nothing to say.');

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 412 | 413 | 415 | 429 | 500 | 503;

/** What every route behind a credential may answer; 500 and 503 stand for what no caller can help. */
const ALWAYS: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500, 503];
const WITH_BODY: readonly ErrorStatus[] = [413, 415];

/** The errors of a route, for its schema's `response`. */
export function errors(...more: readonly (ErrorStatus | 'body')[]) {
  const statuses = [...ALWAYS, ...more.flatMap((item) => (item === 'body' ? WITH_BODY : [item]))];
  return Object.fromEntries(
    statuses.map((status) => [status, status === 401 ? unauthenticatedAnswer : errorAnswer]),
  ) as Record<ErrorStatus, typeof errorAnswer>;
}

/** How a route stands in the document. */
export function about(tag: string, summary: string, description?: string) {
  return { tags: [tag], summary, ...(description ? { description } : {}), security: [{ bearer: [] }] };
}
