import { CallwayError } from '../../base/errors.js';

/** When the legacy routes were declared deprecated. */
const DEPRECATED_SINCE = new Date('2026-01-11T00:00:00.000Z');
const FLUSH_MILLISECONDS = 5_000;
/**
 * Tells callers of legacy routes that they will end, counts them, and ends them at the sunset.
 *
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export function createLegacyRoutes(app, deps) {
  const sunset = deps.settings.legacySunset;
  const deprecated = Math.min(DEPRECATED_SINCE.getTime(), sunset.getTime());
  const counter = createUsageCounter(deps);
  app.addHook('onClose', () => counter.close());
  return {
    announce(request, reply) {
      const { successor } = request.route.config;
      if (successor === undefined) return;
      const path = fill(successor, request);
      addHeaders(reply, deprecated, sunset, path);
      if (deps.clock.now() < sunset.getTime()) return;
      const message = `This route ended on ${sunset.toISOString()}; use ${path}`;
      throw new CallwayError('gone', 'legacy_route_removed', message, { extra: { successor: path } });
    },
    count(request) {
      const { url, config } = request.route;
      if (config.successor === undefined || request.principal?.kind !== 'secret') return;
      counter.count(request.principal.projectId, `${request.method} ${url}`);
    },
  };
}
function addHeaders(reply, deprecated, sunset, successor) {
  reply.header('deprecation', `@${Math.floor(deprecated / 1000)}`);
  reply.header('sunset', sunset.toUTCString());
  reply.header('link', `<${successor}>; rel="successor-version"`);
}
function fill(path, request) {
  const params = request.params;
  return path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? `{${name}}`));
}
/** Gathers counts, so that a request does not wait for the database. */
function createUsageCounter({ usage, metrics, clock }) {
  let counts = new Map();
  const flush = async () => {
    const batch = counts;
    if (batch.size === 0) return;
    counts = new Map();
    await usage.add([...batch.values()]).catch(() => {
      // Kept for the next time; what came meanwhile is added.
      for (const { projectId, route, day, requests } of batch.values()) add(projectId, route, day, requests);
    });
  };
  const add = (projectId, route, day, requests) => {
    const key = `${projectId} ${day} ${route}`;
    const known = counts.get(key)?.requests ?? 0;
    counts.set(key, { projectId, route, day, requests: known + requests });
  };
  let timer = clock.setTimer(tick, FLUSH_MILLISECONDS);
  function tick() {
    void flush().then(() => {
      timer = clock.setTimer(tick, FLUSH_MILLISECONDS);
    });
  }
  return {
    count(projectId, route) {
      metrics.legacyRequest({ project: projectId, route });
      add(projectId, route, new Date(clock.now()).toISOString().slice(0, 10), 1);
    },
    flush,
    async close() {
      timer.cancel();
      await flush();
    },
  };
}
