import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyRequest } from 'fastify';

import type { App } from '../app.ts';
import type { Attendance } from './requestLifecycle.ts';

/**
 * Lets pages of the named origins call the API; does nothing where none is named. A preflight ends here, and any other
 * OPTIONS goes on to its route, as a method like all others.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export async function allowOrigins(
  app: App,
  origins: readonly string[],
  attendance: Pick<Attendance, 'begin'>,
): Promise<void> {
  if (origins.length === 0) return;
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'x-session-id', 'etag', 'retry-after', 'idempotency-replayed'],
  };
  app.addHook('onRequest', (request, reply, done) => {
    // No hook after this one sees a preflight.
    attendance.begin(request, reply, request.routeOptions.url);
    done();
  });
  await app.register(cors, {
    delegator: (request, done) => done(null, { ...options, preflight: isPreflight(request) }),
  });
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
