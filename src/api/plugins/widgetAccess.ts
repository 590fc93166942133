import type { FastifyReply, FastifyRequest } from 'fastify';

import type { WidgetPrincipal } from '../../agents/accounts/principal.ts';
import { rememberWidgetOrigins } from '../../agents/accounts/widgetOrigins.ts';
import { requireOrigin } from '../../agents/accounts/widgetToken.ts';
import { CallwayError } from '../../base/errors.ts';
import type { App, HttpDeps } from '../ports.ts';
import { limitSource } from '../sourceLimits.ts';

/** The routes that take a widget's token. Pages of other origins may ask them with a preflight. */
const WIDGET_ROUTES: readonly string[] = [
  '/v1/projects/:projectId/chat/completions',
  '/v1/projects/:projectId/media-streams',
];
/** A larger limit than the longest message, which a page sends at once. */
const MAX_BODY_BYTES = 32 * 1024;
const PREFLIGHT_MAX_AGE_SECONDS = 600;
/** More than the visitors behind one address need: their browsers remember an answer for ten minutes. */
const PREFLIGHTS_PER_MINUTE = 1_200;
const EXPOSED_HEADERS = 'x-request-id, x-session-id, retry-after';

/**
 * Answers the preflights of pages that a widget's token is for. Register it before other CORS rules.
 *
 * @see https://fetch.spec.whatwg.org/#cors-preflight-fetch
 */
export function answerWidgetPreflights(
  app: App,
  { storage, clock, access: { rateLimiter } }: HttpDeps,
): void {
  const allowsOrigin = rememberWidgetOrigins(storage.stores.widgetTokens, clock);
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined || !isPreflight(request)) return;
    await limitSource(rateLimiter, request, 'preflights', PREFLIGHTS_PER_MINUTE);
    const { projectId = '' } = request.params as { projectId?: string };
    if (await allowsOrigin(projectId, origin)) return answerPreflight(reply, origin);
  });
}

/**
 * Admits a visitor's request: from a page of an allowed origin, with a small body, while the token is valid.
 *
 * @throws {CallwayError} 403 `origin_not_allowed`, 401 `token_expired`, 413 `body_too_large`
 */
export function admitVisitor(
  request: FastifyRequest,
  reply: FastifyReply,
  { allowedOrigins, expiresAtMs }: WidgetPrincipal,
  nowMs: number,
): void {
  const { origin, 'content-length': length } = request.headers;
  requireOrigin(origin, allowedOrigins);
  allow(reply, origin);
  if (expiresAtMs !== null && expiresAtMs <= nowMs)
    throw new CallwayError('unauthenticated', 'token_expired', 'The token of this widget has expired');
  if (length !== undefined && Number(length) <= MAX_BODY_BYTES) return;
  const message = `A widget sends bodies of at most ${MAX_BODY_BYTES} bytes, with a Content-Length`;
  throw new CallwayError('too_large', 'body_too_large', message);
}

function answerPreflight(reply: FastifyReply, origin: string): FastifyReply {
  allow(reply, origin);
  return reply
    .code(204)
    .header('access-control-allow-methods', 'POST')
    .header('access-control-allow-headers', 'authorization, content-type, x-session-id')
    .header('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS)
    .send(null);
}

function allow(reply: FastifyReply, origin: string): void {
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', EXPOSED_HEADERS)
    .header('vary', 'Origin');
}

function isPreflight({ method, headers, routeOptions }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    routeOptions.url !== undefined &&
    WIDGET_ROUTES.includes(routeOptions.url)
  );
}
