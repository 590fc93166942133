import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Logger } from 'pino';

import type { LegacyUsageStore } from '../../agents/accounts/requestStores.ts';
import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import { repeat } from '../../base/repeat.ts';
import type { App } from '../app.ts';
import type { HttpMetrics, HttpSettings } from '../ports.ts';

/** When the legacy routes were declared deprecated. */
const DEPRECATED_SINCE = new Date('2026-01-11T00:00:00.000Z');
const FLUSH_MILLISECONDS = 5_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The /v1 path that replaces this legacy route, with the parameters' names in it. */
    successor?: string;
  }
}

export interface LegacyDeps {
  readonly settings: Pick<HttpSettings, 'legacySunset'>;
  readonly usage: LegacyUsageStore;
  readonly metrics: Pick<HttpMetrics, 'legacyRequest'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Tells a request of a legacy route of that route's end.
 *
 * @throws {CallwayError} 410 `legacy_route_removed` from the sunset on.
 */
export type Announce = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Tells callers of legacy routes that they will end, counts them, and ends them at the sunset.
 *
 * @returns Looks at a route before it is added: whether it has a `successor`, and so is one of them.
 *
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export function createLegacyRoutes(
  app: App,
  deps: LegacyDeps,
): (route: RouteOptions) => Announce | undefined {
  const sunset = deps.settings.legacySunset;
  const deprecated = Math.min(DEPRECATED_SINCE.getTime(), sunset.getTime());
  const counter = createUsageCounter(deps);
  app.addHook('onClose', () => counter.close());

  return (route) => {
    const successor = route.config?.successor;
    if (successor === undefined) return undefined;
    route.onResponse = (request, _reply, done) => {
      if (request.principal?.kind === 'secret') {
        counter.count(request.principal.projectId, `${request.method} ${route.url}`);
      }
      done();
    };
    return (request, reply) => {
      const path = fill(successor, request);
      addHeaders(reply, deprecated, sunset, path);
      if (deps.clock.now() < sunset.getTime()) return;
      const message = `This route ended on ${sunset.toISOString()}; use ${path}`;
      throw new CallwayError('gone', 'legacy_route_removed', message, { extra: { successor: path } });
    };
  };
}

function addHeaders(reply: FastifyReply, deprecated: number, sunset: Date, successor: string): void {
  reply.header('deprecation', `@${Math.floor(deprecated / 1000)}`);
  reply.header('sunset', sunset.toUTCString());
  reply.header('link', `<${successor}>; rel="successor-version"`);
}

function fill(path: string, request: FastifyRequest): string {
  const params = request.params as Record<string, string>;
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? `{${name}}`));
}

/** Gathers counts, so that a request does not wait for the database. */
function createUsageCounter({ usage, metrics, clock, logger }: LegacyDeps) {
  const onError = (error: unknown) =>
    logger.warn({ err: error }, 'the use of legacy routes is not kept yet; it is tried again');
  let counts = new Map<string, { projectId: string; route: string; day: string; requests: number }>();
  const flush = async () => {
    const batch = counts;
    if (batch.size === 0) return;
    counts = new Map();
    await usage.add([...batch.values()]).catch((error: unknown) => {
      // Kept for the next time; what came meanwhile is added.
      for (const { projectId, route, day, requests } of batch.values()) add(projectId, route, day, requests);
      throw error;
    });
  };
  const add = (projectId: string, route: string, day: string, requests: number) => {
    const key = `${projectId} ${day} ${route}`;
    const known = counts.get(key)?.requests ?? 0;
    counts.set(key, { projectId, route, day, requests: known + requests });
  };
  const stopFlushing = repeat(clock, FLUSH_MILLISECONDS, flush, onError);
  return {
    count(projectId: string, route: string) {
      metrics.legacyRequest({ project: projectId, route });
      add(projectId, route, new Date(clock.now()).toISOString().slice(0, 10), 1);
    },
    async close() {
      await stopFlushing();
      await flush().catch(onError);
    },
  };
}
