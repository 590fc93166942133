import type { FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';

import { invalid, unavailable } from '../../base/errors.ts';
import type { App } from '../app.ts';
import type { HttpDeps } from '../ports.ts';
import { type Access, createGate } from './accessControl.ts';
import { createLegacyRoutes } from './legacyRoutes.ts';

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
const REQUEST_ID = 'x-request-id';
/** The route of requests that reach none, in the log and the numbers. */
const UNKNOWN_ROUTE = 'unknown';
const PUBLIC: Access = { kind: 'public' };

/** What every request has, whichever way it goes. */
export interface Attendance {
  /** Gives a request its headers and its log, and sees to its end; one that has begun does not begin again. */
  begin(request: FastifyRequest, reply: FastifyReply, route?: string): void;
  /** The hook of requests that reach no route. */
  readonly ofUnknown: onRequestHookHandler;
}

/**
 * Sees every request in and out: its headers, who may make it, its line in the log, its place in the numbers. What a
 * route asks for is found out once, when it is added, and all of it is one hook: each costs every request.
 */
export function attendRequests(app: App, deps: HttpDeps): Attendance {
  const { logger, settings } = deps;
  const gateOf = createGate(deps);
  const legacyOf = createLegacyRoutes(app, { ...deps, usage: deps.storage.stores.legacyUsage });
  const end = createEnd(deps);

  const begin: Attendance['begin'] = (request, reply, route = UNKNOWN_ROUTE) => {
    if (reply.getHeader(REQUEST_ID) !== undefined) return;
    request.log = logger;
    reply.log = logger;
    reply.header(REQUEST_ID, request.id);
    reply.headers(SECURITY_HEADERS);
    // Who keeps connections open comes over another one next, to a node that stays.
    if (settings.isDraining()) reply.header('connection', 'close');
    if (!isHandedOver(request)) app.bodyWatch.begin(request.raw);
    onEnd(reply, end(request, reply, route));
  };

  app.addHook('onRoute', (options) => {
    const { url } = options;
    const access = options.config?.access ?? PUBLIC;
    const gate = gateOf(access);
    const announceEnd = legacyOf(options);
    prepend(options, (request, reply, done) => {
      begin(request, reply, url);
      requireReadable(request);
      announceEnd?.(request, reply);
      if (!gate) return done();
      requireDependencies(deps.dependencies);
      const waiting = gate(request);
      if (waiting) waiting.then(() => done(), done);
      else done();
    });
  });
  return {
    begin,
    ofUnknown(request, reply, done) {
      begin(request, reply);
      requireReadable(request);
      done();
    },
  };
}

/** What is done once a request is answered. */
function createEnd({ metrics, logger, clock }: HttpDeps) {
  // The line of each request has fixed fields, none of which is redacted: looking for such costs more than the line.
  const requestLines = logger.child({}, { redact: [] });
  return (request: FastifyRequest, reply: FastifyReply, route: string) => {
    const beganMs = clock.monotonicMs();
    return () => {
      const durationMs = clock.monotonicMs() - beganMs;
      const { method } = request;
      const status = reply.statusCode;
      metrics.requestDone({ method, route, status }, durationMs / 1000);
      requestLines.info(
        { requestId: request.id, method, route, status, durationMs: Math.round(durationMs) },
        'request done',
      );
      if (isHandedOver(request)) request.raw.socket.destroy();
    };
  };
}

/** Where an answer ends is heard at Node's own: a hook of Fastify would listen anew for each, and stop again. */
function onEnd({ raw }: FastifyReply, end: () => void): void {
  let hasEnded = false;
  const endOnce = () => {
    if (hasEnded) return;
    hasEnded = true;
    end();
  };
  raw.on('finish', endOnce);
  raw.on('error', endOnce);
}

function prepend(options: RouteOptions, hook: onRequestHookHandler): void {
  options.onRequest = [hook, ...[options.onRequest ?? []].flat()];
}

function requireReadable({ url }: FastifyRequest): void {
  if (url.includes('%00')) throw invalid('invalid_url', 'The path holds the character U+0000');
}

/** @throws {CallwayError} 503 while something that routes stand on is known to be away. */
function requireDependencies(dependencies: HttpDeps['dependencies']): void {
  for (const dependency of dependencies) if (dependency.isDown?.()) throw unavailable(dependency.name);
}

/** Whether Node has left a socket to us, since its client asks for another protocol; then nobody else reads or ends it. */
function isHandedOver({ raw }: FastifyRequest): boolean {
  return (raw as { readonly upgrade?: unknown }).upgrade === true;
}
