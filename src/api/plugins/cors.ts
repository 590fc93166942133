import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyRequest } from 'fastify';

import type { App } from '../ports.ts';

/**
 * Lets pages of the given origins call the API; without origins it does nothing. Only a preflight is answered here: any
 * other OPTIONS request goes to its route like every other method.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export async function allowOrigins(app: App, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'x-session-id', 'etag', 'retry-after', 'idempotency-replayed'],
  };
  await app.register(cors, {
    delegator: (request, done) => done(null, { ...options, preflight: isPreflight(request) }),
  });
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
