import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { ComputeShare, ComputeShares } from '../../base/async/computeShares.ts';
import { Turns } from '../../base/async/limitConcurrency.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import type { App } from '../ports.ts';
import { parseJsonBody } from './jsonBody.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the handler waits for a model or a slow client, and so does not count in the project's requests at once.
     */
    isLong?: boolean;
    /** Whether the handler reads many rows: fewer of these run at once. */
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
/** The approximate time of the validation, the work and the answer, without the parsing. */
const MS_PER_MEBIBYTE = 40;

/**
 * Shares a node among projects: each has some requests at work at the same time, the others wait their turn, and large
 * bodies count in its share of the event loop.
 */
export function shareFairly(app: App, { shares }: { readonly shares: ComputeShares }): void {
  const turns = new LRUCache<string, Turns>({ max: MAX_PROJECTS });
  const turnsOf = (name: string, running: number) => {
    const known = turns.get(name);
    if (known) return known;
    const created = new Turns({ running, waiting: MAX_WAITING, full: tooManyRequests });
    turns.set(name, created);
    return created;
  };

  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const projectId = projectIdOf(request);
    const { maxJsonValues } = request.routeOptions.config;
    const parse = () => parseJsonBody(body, maxJsonValues);
    if (projectId !== undefined && body.length >= LARGE_BODY_BYTES) {
      const share = shares.of(projectId);
      untilReady(share, request)
        .then(() => share.run(parse, (body.length / 1_048_576) * MS_PER_MEBIBYTE))
        .then((value) => done(null, value), done);
      return;
    }
    // What it throws is answered, too.
    done(null, parse());
  });

  app.addHook('preHandler', (request, { raw }, done) => {
    const projectId = projectIdOf(request);
    const { isLong, isSearch } = request.routeOptions.config;
    if (projectId === undefined || isLong) return done();
    const own = isSearch
      ? turnsOf(`searches of ${projectId}`, SEARCHES_AT_ONCE)
      : turnsOf(projectId, REQUESTS_AT_ONCE);
    try {
      own.enter(() => {
        // The client may have disconnected meanwhile.
        if (raw.closed) own.leave();
        else raw.once('close', () => own.leave());
        done();
      });
    } catch (error) {
      done(error as Error);
    }
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

function projectIdOf({ principal }: FastifyRequest): string | undefined {
  return principal && principal.kind !== 'admin' ? principal.projectId : undefined;
}

function tooManyRequests(): CallwayError {
  const message = `More than ${MAX_WAITING} requests of this project wait; send fewer at once`;
  return new CallwayError('rate_limited', 'project_busy', message, { retryAfterSeconds: 1 });
}
