import type { FastifyReply, FastifyRequest } from 'fastify';

import { repeat } from '../../base/async/repeat.ts';
import { CallwayError } from '../../base/errors.ts';
import type { App, HttpDeps } from '../ports.ts';

/** When the legacy routes were declared deprecated. */
const DEPRECATED_SINCE = new Date('2026-01-11T00:00:00.000Z');
const FLUSH_INTERVAL_MS = 5_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Marks a legacy route: the /v1 path that replaces it, with parameter names. */
    successor?: string;
  }
}

/**
 * Announces the end of legacy routes in their responses, counts their requests, and answers 410 from the sunset on.
 *
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export function legacyRoutes(app: App, deps: HttpDeps): void {
  const sunset = deps.settings.legacySunset;
  const usage = createUsageCounter(deps);
  app.addHook('onRequest', (request, reply, done) => {
    const successor = successorOf(request);
    if (successor === undefined) return done();
    addHeaders(reply, sunset, successor);
    if (deps.clock.now() < sunset.getTime()) return done();
    const message = `This route ended on ${sunset.toISOString()}; use ${successor}`;
    done(new CallwayError('gone', 'legacy_route_removed', message, { extra: { successor } }));
  });
  app.addHook('onResponse', (request, _reply, done) => {
    const { principal, routeOptions } = request;
    if (routeOptions.config.successor !== undefined && principal?.kind === 'secret') {
      usage.count(principal.projectId, `${request.method} ${routeOptions.url}`);
    }
    done();
  });
  app.addHook('onClose', () => usage.close());
}

/** The successor's path with this request's parameters filled in. */
function successorOf({ params, routeOptions }: FastifyRequest): string | undefined {
  const values = params as Record<string, string>;
  return routeOptions.config.successor?.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? `{${name}}`),
  );
}

function addHeaders(reply: FastifyReply, sunset: Date, successor: string): void {
  const deprecatedMs = Math.min(DEPRECATED_SINCE.getTime(), sunset.getTime());
  reply.header('deprecation', `@${Math.floor(deprecatedMs / 1000)}`);
  reply.header('sunset', sunset.toUTCString());
  reply.header('link', `<${successor}>; rel="successor-version"`);
}

/** Collects counts and writes them every few seconds, so that no request waits for the database. */
function createUsageCounter({ storage: { stores }, operations: { metrics, logger }, clock }: HttpDeps) {
  let counts = new Map<string, { projectId: string; route: string; day: string; requests: number }>();
  const add = (projectId: string, route: string, day: string, requests: number) => {
    const key = `${projectId} ${day} ${route}`;
    counts.set(key, { projectId, route, day, requests: (counts.get(key)?.requests ?? 0) + requests });
  };
  const flush = async () => {
    const batch = [...counts.values()];
    if (batch.length === 0) return;
    counts = new Map();
    await stores.legacyUsage.add(batch).catch((error: unknown) => {
      for (const { projectId, route, day, requests } of batch) add(projectId, route, day, requests);
      throw error;
    });
  };
  const onError = (error: unknown) =>
    logger.warn({ err: error }, 'legacy route usage not saved; will be retried');
  const stopFlushing = repeat(clock, FLUSH_INTERVAL_MS, flush, onError);
  return {
    count(projectId: string, route: string) {
      metrics.countLegacyRequest({ project: projectId, route });
      add(projectId, route, new Date(clock.now()).toISOString().slice(0, 10), 1);
    },
    async close() {
      await stopFlushing();
      await flush().catch(onError);
    },
  };
}
