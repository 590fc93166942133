import type { FastifyReply, FastifyRequest } from 'fastify';

import type { App, HttpDeps } from '../ports.ts';
import { startBodyTimeout } from './bodyTimeout.ts';

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
/** Route label, in logs and metrics, of a request that matches no route. */
const UNKNOWN_ROUTE = 'unknown';

/** The first and the last step of each request. */
export interface RequestLifecycle {
  /** Sets the headers that every response carries, and limits the time for the request body. */
  begin(request: FastifyRequest, reply: FastifyReply): void;
  /** Writes the log line and observes the duration. */
  end(request: FastifyRequest, reply: FastifyReply): void;
}

/**
 * Adds the lifecycle to every route.
 *
 * @returns The steps, for requests that Fastify runs no hooks for: those whose path it cannot parse.
 */
export function requestLifecycle(
  app: App,
  { clock, operations: { metrics, logger }, settings }: HttpDeps,
): RequestLifecycle {
  // Its fields hold no secrets, and searching them for secrets would cost more than the line itself.
  const accessLog = logger.child({}, { redact: [] });
  const lifecycle: RequestLifecycle = {
    begin(request, reply) {
      reply.header('x-request-id', request.id).headers(SECURITY_HEADERS);
      // Clients that keep connections open reconnect to a node that stays.
      if (settings.isDraining()) reply.header('connection', 'close');
      if (isUpgrade(request)) return;
      const { raw, server } = request;
      const onTimeout = () =>
        void server.server.emit('clientError', bodyTimeoutError(request.url), raw.socket);
      request.bodyTimeout = startBodyTimeout(raw, clock, onTimeout);
    },
    end(request, reply) {
      const { method } = request;
      const route = request.routeOptions.url ?? UNKNOWN_ROUTE;
      const { statusCode: status, elapsedTime: durationMs } = reply;
      metrics.observeRequest({ method, route, status }, durationMs / 1000);
      accessLog[levelOf(method, status)](
        { requestId: request.id, method, route, status, durationMs: Math.round(durationMs) },
        'request completed',
      );
      if (isUpgrade(request)) request.raw.socket.destroy();
    },
  };
  app.decorateRequest('bodyTimeout', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    lifecycle.begin(request, reply);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    lifecycle.end(request, reply);
    done();
  });
  return lifecycle;
}

/** Probes, scrapes and an open console read all the time. */
function levelOf(method: string, status: number): 'debug' | 'info' | 'warn' {
  if (status >= 500) return 'warn';
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'debug' : 'info';
}

/** Builds the error of a slow body, whose code is that of Node's error for slow headers. */
function bodyTimeoutError(path: string): Error {
  const code = 'ERR_HTTP_REQUEST_TIMEOUT';
  return Object.assign(new Error('the request body took too long'), { code, path });
}

/** True when the client asks for another protocol: Node then neither reads nor closes the socket. */
function isUpgrade({ raw }: FastifyRequest): boolean {
  return (raw as { readonly upgrade?: unknown }).upgrade === true;
}
