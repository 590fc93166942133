import type { FastifyRequest } from 'fastify';

import type { Allowance, RateLimiter } from '../agents/accounts/rateLimiter.ts';
import { CallwayError, isUnavailable } from '../base/errors.ts';
import { clientNetwork } from './clientNetwork.ts';

/** @throws {CallwayError} 429 `rate_limited` */
export function requireAllowed(what: string, allowance: Allowance): void {
  if (!allowance.allowed) throw rateLimited(what, allowance.retryAfterSeconds);
}

/**
 * Counts a request without a credential by the client's network. While Redis is away nothing is counted, so that metrics
 * can be read then.
 *
 * @param what - Names the requests that are counted together, in the plural.
 * @throws {CallwayError} 429 `rate_limited`
 */
export async function limitSource(
  limiter: RateLimiter,
  { ip }: FastifyRequest,
  what: string,
  perMinute: number,
): Promise<void> {
  try {
    requireAllowed(what, await limiter.take(`source:${what}:${clientNetwork(ip)}`, perMinute));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

export function rateLimited(what: string, retryAfterSeconds: number): CallwayError {
  const message = `Too many ${what}; try again in ${retryAfterSeconds} s`;
  return new CallwayError('rate_limited', 'rate_limited', message, { retryAfterSeconds });
}
