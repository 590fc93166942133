import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { limitConcurrency } from '../../base/async/limitConcurrency.ts';
import type { ComputeShare, ComputeShares } from '../../base/computeShares.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import type { App } from '../ports.ts';
import { parseJsonBody } from './jsonBody.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its handler waits for a model or a slow client, and does not count in the project's requests at once. */
    isLong?: boolean;
    /** It reads many rows: fewer of them run at once. */
    isSearch?: boolean;
    /** JSON values of its body. Default: {@link MAX_JSON_VALUES}. */
    maxJsonValues?: number;
  }
}

/** Below a quarter of the database's connections. */
const REQUESTS_AT_ONCE = 8;
const SEARCHES_AT_ONCE = 2;
const MAX_WAITING = 500;
const MAX_PROJECTS = 10_000;
/** Smaller ones take less than a millisecond. */
const LARGE_BODY_BYTES = 65_536;
/** What the validation, the work on it and its answer take beside the parsing, about. */
const MS_PER_MEBIBYTE = 40;

/**
 * Shares a node among projects: each has some requests at work at the same time, the others wait their turn, and large
 * bodies count in its share of the event loop.
 */
export function shareFairly(app: App, { shares }: { readonly shares: ComputeShares }): void {
  const limits = new LRUCache<string, ReturnType<typeof limitConcurrency>>({ max: MAX_PROJECTS });
  const limitOf = (name: string, running: number) => {
    const known = limits.get(name);
    if (known) return known;
    const limit = limitConcurrency({ running, waiting: MAX_WAITING, full: tooManyRequests });
    limits.set(name, limit);
    return limit;
  };

  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const projectId = projectIdOf(request);
      const { maxJsonValues } = request.routeOptions.config;
      const parse = () => parseJsonBody(body, maxJsonValues);
      if (projectId === undefined || body.length < LARGE_BODY_BYTES) return parse();
      const share = shares.of(projectId);
      await untilReady(share, request);
      return share.run(parse, (body.length / 1_048_576) * MS_PER_MEBIBYTE);
    },
  );

  app.addHook('preHandler', async (request, reply) => {
    const projectId = projectIdOf(request);
    const { isLong, isSearch } = request.routeOptions.config;
    if (projectId === undefined || isLong) return;
    const limit = isSearch
      ? limitOf(`searches of ${projectId}`, SEARCHES_AT_ONCE)
      : limitOf(projectId, REQUESTS_AT_ONCE);
    await new Promise<void>((start, refuse) => {
      limit(() => {
        start();
        return untilAnswered(reply);
      }).catch(refuse);
    });
  });
}

/** @throws {CallwayError} When the client disconnects. The request's own signal is aborted once its body is read. */
async function untilReady(share: ComputeShare, { raw: { socket } }: FastifyRequest): Promise<void> {
  const waiting = new AbortController();
  const stop = () => waiting.abort(invalid('client_disconnected', 'The client has disconnected'));
  socket.once('close', stop);
  try {
    await share.ready(waiting.signal);
  } finally {
    socket.off('close', stop);
  }
}

function untilAnswered({ raw }: FastifyReply): Promise<void> {
  if (raw.closed || raw.writableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    raw.once('finish', resolve);
    raw.once('close', resolve);
  });
}

function projectIdOf({ principal }: FastifyRequest): string | undefined {
  return principal && principal.kind !== 'admin' ? principal.projectId : undefined;
}

function tooManyRequests(): CallwayError {
  const message = `More than ${MAX_WAITING} requests of this project wait; send fewer at once`;
  return new CallwayError('rate_limited', 'project_busy', message, { retryAfterSeconds: 1 });
}
