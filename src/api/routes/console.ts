import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';

import { CallwayError } from '../../base/errors.ts';
import type { App, HttpDeps } from '../ports.ts';

const PREFIX = '/console/';
const PAGE = 'index.html';
/** Files whose names change with their content. */
const HASHED = `${PREFIX}assets/`;
/** Vite writes it into the page, for the styles that libraries add at run time. */
const NONCE_PLACEHOLDER = /__CSP_NONCE__/g;
const NONCE_BYTES = 18;
const YEAR_MS = 31_536_000_000;
const hide = { schema: { hide: true } } as const;

/** The console's files and, for all its addresses, its one page. Nothing without a built console. */
export async function consolePages(app: App, { settings }: HttpDeps): Promise<void> {
  const { consoleFolder } = settings;
  if (consoleFolder === undefined) return;
  const page = readFileSync(join(consoleFolder, PAGE), 'utf8');
  await app.register(fastifyStatic, {
    root: consoleFolder,
    prefix: PREFIX,
    wildcard: false,
    index: false,
    globIgnore: [PAGE, `**/*.{br,gz}`, '.*'],
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      const isHashed = path.startsWith(join(consoleFolder, 'assets'));
      reply.header('Cache-Control', isHashed ? `public, max-age=${YEAR_MS / 1000}, immutable` : 'no-cache');
      reply.header('X-Content-Type-Options', 'nosniff');
    },
  });
  app.get('/console', hide, async (_request, reply) => await reply.redirect(PREFIX));
  app.get(`${PREFIX}*`, hide, async (request, reply) => {
    if (request.url.startsWith(HASHED))
      throw new CallwayError('not_found', 'not_found', 'There is no such file');
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return await reply
      .headers({
        'content-security-policy': contentSecurityPolicy(nonce, settings.publicUrl()),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
      })
      .type('text/html; charset=utf-8')
      .send(page.replace(NONCE_PLACEHOLDER, nonce));
  });
}

/** Audio WebSockets are at the public address, which can differ from the page's behind a proxy. */
function contentSecurityPolicy(nonce: string, publicUrl: string): string {
  const audio = new URL(publicUrl).origin.replace(/^http/, 'ws');
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${audio}`,
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
