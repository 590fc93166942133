import { z } from 'zod';
import { CallwayError } from '../../base/errors.ts';
import { DAY_MS } from '../../base/values/clock.ts';
import type { Page, PageOf } from '../../base/values/page.ts';
import type { WidgetPrincipal } from './principal.ts';

const MOST_ORIGINS = 100;
const MOST_MINUTES = 1000 * 24 * 60;
const MOST_REQUESTS = 10_000;
const DEFAULT_MINUTES_PER_DAY = 60;
const DEFAULT_REQUESTS_PER_MINUTE = 60;
const MOST_CONCURRENT = 10_000;
/** A new project may have twice as many calls. */
const DEFAULT_CONCURRENT = 5;
/** A short time, since voice sessions end at any time. */
const BUSY_RETRY_AFTER_SECONDS = 5;

const origin = z
  .string()
  .max(300)
  .refine(isOrigin, '{field} must be an origin, such as https://www.example.com: no path, no final slash');

const expiresAt = z.iso.datetime({ offset: true }).nullable();

export const widgetTokenInput = z.strictObject({
  allowedOrigins: z
    .array(origin)
    .min(1)
    .max(MOST_ORIGINS)
    .describe('Origins of the pages with the widget, as browsers send them.')
    .meta({ example: ['https://www.example.com'] }),
  maxMinutesPerDay: z
    .int()
    .min(0)
    .max(MOST_MINUTES)
    .default(DEFAULT_MINUTES_PER_DAY)
    .describe('Talk time of all visitors together in a UTC day; 0 allows the chat alone.'),
  requestsPerMinute: z
    .int()
    .min(1)
    .max(MOST_REQUESTS)
    .default(DEFAULT_REQUESTS_PER_MINUTE)
    .describe('Messages and calls of all visitors together in a clock minute.'),
  maxConcurrent: z
    .int()
    .min(1)
    .max(MOST_CONCURRENT)
    .default(DEFAULT_CONCURRENT)
    .describe(
      'Talks of all visitors at once. They count in the project’s `maxConcurrentCalls` too: fewer leave lines free for calls.',
    ),
  expiresAt: expiresAt.default(null).describe('Null for a token that does not expire.'),
});

export const widgetToken = z
  .object({
    id: z.uuid(),
    hint: z.string().describe('Prefix and last four characters.').meta({ example: 'wt_…a1B2' }),
    allowedOrigins: z.array(z.string()),
    maxMinutesPerDay: z.int(),
    requestsPerMinute: z.int(),
    maxConcurrent: z.int(),
    expiresAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    minutesUsedToday: z.number().describe('Talk time in the current UTC day.'),
  })
  .meta({ id: 'WidgetToken' });

export type WidgetToken = z.infer<typeof widgetToken>;

interface NewWidgetToken extends Omit<WidgetToken, 'minutesUsedToday'> {
  readonly projectId: string;
  /** @see digestCredential */
  readonly digest: string;
}

/** Stores the digests of tokens, never the tokens, and their talk time. */
export interface WidgetTokenStore extends WidgetMinutes {
  insert(token: NewWidgetToken): Promise<void>;
  list(projectId: string, page: Page, now: Date): Promise<PageOf<WidgetToken>>;
  findByDigest(digest: string): Promise<WidgetPrincipal | undefined>;
  /** The origins of the valid tokens of all projects, each once. */
  allOrigins(now: Date): Promise<{ projectId: string; origin: string }[]>;
  /** @returns The digest of the removed token; undefined when there was none. */
  remove(projectId: string, tokenId: string): Promise<string | undefined>;
  digestsOf(projectId: string): Promise<string[]>;
  /** Returns what is left of today's talk time, in milliseconds. */
  msLeftToday(tokenId: string, now: Date): Promise<number>;
}

/** The talk time that a token's streams, on all nodes, have together in a UTC day. */
export interface WidgetMinutes {
  /**
   * Uses up talk time before it is talked.
   *
   * @returns The milliseconds that there were: 0 when the talk time is used up, or the token is revoked or expired.
   */
  take(tokenId: string, ms: number, now: Date): Promise<number>;
  giveBack(tokenId: string, ms: number, now: Date): Promise<void>;
}

/** Counts the voice sessions that a token's visitors have at once, on all nodes. Unrenewed ones expire within a minute. */
export interface WidgetSessions {
  /** @returns False where there are `most` already. */
  begin(tokenId: string, streamId: string, most: number): Promise<boolean>;
  renew(tokenId: string, streamId: string): Promise<void>;
  end(tokenId: string, streamId: string): Promise<void>;
}

/** @throws {CallwayError} 400 where the time has passed. */
export function requireFuture(expiresAt: string | null, nowMs: number): void {
  if (expiresAt === null || Date.parse(expiresAt) > nowMs) return;
  const message = 'expiresAt must be in the future';
  throw new CallwayError('invalid', 'invalid_request', message, {
    details: [{ path: '/expiresAt', message }],
  });
}

/** @throws {CallwayError} 429 `widget_minutes_exhausted` */
export function requireMinutes(msLeft: number, nowMs: number): void {
  if (msLeft > 0) return;
  const message = 'This widget has used its minutes of today';
  const retryAfterSeconds = Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
  throw new CallwayError('rate_limited', 'widget_minutes_exhausted', message, { retryAfterSeconds });
}

export function tooManyWidgetSessions(maxConcurrent: number): CallwayError {
  const message = `This widget has ${maxConcurrent} talks at once, its limit`;
  return new CallwayError('rate_limited', 'widget_concurrency_exceeded', message, {
    retryAfterSeconds: BUSY_RETRY_AFTER_SECONDS,
  });
}

/** @throws {CallwayError} 403 `origin_not_allowed` */
export function requireOrigin(
  origin: string | undefined,
  allowedOrigins: readonly string[],
): asserts origin is string {
  if (origin !== undefined && allowedOrigins.includes(origin)) return;
  const message = 'This token is not for pages of this origin; add the origin to its allowedOrigins';
  throw new CallwayError('forbidden', 'origin_not_allowed', message);
}

/** Whether the text is an origin as a browser writes it. @see https://www.rfc-editor.org/rfc/rfc6454#section-6.2 */
function isOrigin(text: string): boolean {
  if (!/^https?:\/\/[^*]+$/.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
