import type { Clock } from '../base/clock.ts';
import { CallwayError } from '../base/errors.ts';
import type { GuardedHttpClient } from '../infra/httpClient/client.ts';
import type { HeaderEntry } from '../infra/httpClient/headers.ts';
import { signDelivery } from './signature.ts';

/** How long a receiver may take to answer; nothing in the service waits longer for it. */
export const DELIVERY_TIMEOUT_MS = 10_000;

export interface DeliveryTarget {
  readonly url: string;
  /** The user's own; those that the service must set are left out. */
  readonly headers: readonly HeaderEntry[];
}

export interface DeliveryDeps {
  readonly client: Pick<GuardedHttpClient, 'request'>;
  readonly clock: Clock;
}

export interface DeliveryRequest {
  readonly target: DeliveryTarget;
  readonly deliveryId: string;
  /** JSON, exactly as it shall be sent. */
  readonly body: string;
  readonly secrets: readonly string[];
  /**
   * Asked for leave before the body's last byte is sent; where it rejects, nothing was sent.
   *
   * @see GuardedRequest.beforeLastByte
   */
  readonly beforeLastByte: () => Promise<void>;
}

export interface DeliveryError {
  readonly code: string;
  readonly message: string;
  /** What was caught, for the log; no part of the record. */
  readonly cause?: unknown;
}

/** What became of a delivery, as the record of deliveries keeps it. */
export interface DeliveryResult {
  /** Whether the receiver answered 2xx. */
  readonly ok: boolean;
  /** Absent when there was no answer. */
  readonly status?: number;
  /** Present exactly when `ok` is false. `code` is of the guarded client, of the signature, or `unexpected_status`. */
  readonly error?: DeliveryError;
  /** From the name's look-up on, the wait for leave included. */
  readonly durationMs: number;
}

/**
 * Posts one signed event, once: no redirect is followed and nothing is repeated. The receiver's status is the answer;
 * what body it sends is not read. Never throws: every failure is a result.
 */
export async function deliver(request: DeliveryRequest, deps: DeliveryDeps): Promise<DeliveryResult> {
  const startedMs = deps.clock.monotonicMs();
  const outcome = await post(request, deps).catch(failed);
  return { ...outcome, durationMs: deps.clock.monotonicMs() - startedMs };
}

async function post(request: DeliveryRequest, { client, clock }: DeliveryDeps): Promise<Outcome> {
  const { target, deliveryId, body, secrets, beforeLastByte: leave } = request;
  const timestampSeconds = Math.floor(clock.now() / 1000);
  const signature = signDelivery({ deliveryId, timestampSeconds, body, secrets });
  const { status } = await client.request({
    method: 'POST',
    url: target.url,
    headers: [
      { key: 'content-type', value: 'application/json' },
      ...Object.entries(signature).map(([key, value]) => ({ key, value })),
      ...target.headers.filter(({ key }) => !isOurs(key)),
    ],
    body,
    confirmBeforeLastByte: leave,
    timeoutMs: DELIVERY_TIMEOUT_MS,
    readBody: false,
  });
  if (status >= 200 && status < 300) return { ok: true, status };
  const hint = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const message = `the receiver answered ${status}, where 2xx is expected${hint}`;
  return { ok: false, status, error: { code: 'unexpected_status', message } };
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
