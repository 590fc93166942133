import { Webhook } from 'standardwebhooks';
import { CallwayError } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import type { GuardedHttpClient } from '../http/client.ts';
import type { HeaderEntry } from '../http/headers.ts';

/** The time that a receiver has to answer; nothing in the service waits longer for it. */
export const DELIVERY_TIMEOUT_MS = 10_000;
/** The most deliveries of a node; each may wait ten seconds for its receiver. Nine tenths remain for other projects. */
export const SHARES = { maxRunning: 100, maxPerProject: 10 } as const;
/** The time for the answer's text after the headers, which usually come with it. */
const ANSWER_TEXT_MS = 1_000;
/** Enough for a message or the head of an error page. */
const MAX_ANSWER_CHARACTERS = 2_000;
const MAX_CHARACTER_BYTES = 4;
/** But for tab and line breaks. */
const CONTROL_CHARACTER = /[^\P{Cc}\t\r\n]/u;

export interface DeliveryTarget {
  readonly url: string;
  /** The user's own; those that the service sets itself are ignored. */
  readonly headers: readonly HeaderEntry[];
}

export interface DeliveryDeps {
  readonly client: GuardedHttpClient;
  readonly clock: Clock;
}

export interface DeliveryRequest {
  readonly target: DeliveryTarget;
  readonly deliveryId: string;
  /** JSON, exactly as sent. */
  readonly body: string;
  /** The secrets, each of which signs: two during the 24 hours after a rotation. */
  readonly secrets: readonly string[];
}

interface DeliveryError {
  readonly code: string;
  readonly message: string;
  /** The cause, for the log only. */
  readonly cause?: unknown;
}

export interface DeliveryResult {
  /** Whether the receiver answered 2xx. */
  readonly ok: boolean;
  /** The HTTP status; undefined when there was no response. */
  readonly status?: number;
  /** The beginning of the answer's body; null where it has none, or is not text. Undefined without an answer. */
  readonly answer?: string | null;
  /** The error, present exactly when `ok` is false. `code` is of the guarded HTTP client, or `unexpected_status`. */
  readonly error?: DeliveryError;
  /** The time from the DNS lookup on. */
  readonly durationMs: number;
}

/**
 * Posts one signed event, once: redirects are not followed and nothing is repeated. Of the answer, the status
 * and the beginning of its text are read. Never throws: every failure is a result.
 */
export async function deliver(request: DeliveryRequest, deps: DeliveryDeps): Promise<DeliveryResult> {
  const startedMs = deps.clock.monotonicMs();
  const outcome = await post(request, deps).catch(failed);
  return { ...outcome, durationMs: deps.clock.monotonicMs() - startedMs };
}

/** @see https://www.standardwebhooks.com, "Signature scheme" */
export function signatureHeaders(
  { deliveryId, body, secrets }: Pick<DeliveryRequest, 'deliveryId' | 'body' | 'secrets'>,
  nowMs: number,
): Record<string, string> {
  const sign = (secret: string) => new Webhook(secret).sign(deliveryId, new Date(nowMs), body);
  return {
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': secrets.map(sign).join(' '),
  };
}

async function post(request: DeliveryRequest, { client, clock }: DeliveryDeps): Promise<Outcome> {
  const { target, body } = request;
  const signature = signatureHeaders(request, clock.now());
  const { status, body: answered } = await client.request({
    method: 'POST',
    url: target.url,
    headers: [
      { key: 'content-type', value: 'application/json' },
      ...Object.entries(signature).map(([key, value]) => ({ key, value })),
      ...target.headers.filter(({ key }) => !isOurs(key)),
    ],
    body,
    timeoutMs: DELIVERY_TIMEOUT_MS,
    excerpt: { maxBytes: MAX_ANSWER_CHARACTERS * MAX_CHARACTER_BYTES, bodyTimeoutMs: ANSWER_TEXT_MS },
  });
  const answer = textOf(answered);
  if (status >= 200 && status < 300) return { ok: true, status, answer };
  const hint = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const message = `the receiver answered ${status}, where 2xx is expected${hint}`;
  return { ok: false, status, answer, error: { code: 'unexpected_status', message } };
}

/** Decodes the text by its bytes alone: a receiver's content type may be wrong. A compressed body is no UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }).trim();
    if (text === '' || CONTROL_CHARACTER.test(text)) return null;
    return [...text].slice(0, MAX_ANSWER_CHARACTERS).join('');
  } catch {
    return null;
  }
}

type Outcome = Omit<DeliveryResult, 'durationMs'>;

function failed(cause: unknown): Outcome {
  if (cause instanceof CallwayError) {
    return { ok: false, error: { code: cause.code, message: cause.message, cause } };
  }
  return {
    ok: false,
    error: { code: 'internal_error', message: 'the delivery failed within the service', cause },
  };
}

function isOurs(key: string): boolean {
  const name = key.toLowerCase();
  return name === 'content-type' || name.startsWith('webhook-');
}
