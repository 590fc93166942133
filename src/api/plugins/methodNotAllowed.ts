import { CallwayError } from '../../base/errors.ts';
import type { App } from '../ports.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/**
 * Records every route that is registered after this call.
 *
 * @returns Adds routes that answer 405 with `Allow` for the methods that the recorded paths lack.
 */
export function watchMethods(app: App): () => void {
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const known = methodsOf.get(url) ?? new Set();
    methodsOf.set(url, known);
    for (const name of [method].flat()) known.add(name);
  });
  return () => {
    // A copy, since the routes added below are recorded too.
    const recorded = new Map([...methodsOf].map(([url, methods]) => [url, new Set(methods)]));
    for (const [url, known] of recorded) {
      const allowed = METHODS.filter((name) => known.has(name) || hasWiderPath(name, url, recorded));
      const missing = METHODS.filter((name) => !allowed.includes(name));
      if (missing.length === 0 || url.includes('*')) continue;
      const allow = allowed.join(', ');
      app.route({
        method: missing,
        url,
        schema: { hide: true },
        config: { access: { kind: 'public' } },
        handler: (request, reply) => {
          reply.header('allow', allow);
          const message = `${request.method} is not allowed here; allowed are ${allow}`;
          throw new CallwayError('method_not_allowed', 'method_not_allowed', message);
        },
      });
    }
  };
}

/** True when a path with parameters matches too and has the method: `GET …/sessions/:sessionId` for `…/sessions/search`. */
function hasWiderPath(
  method: string,
  url: string,
  methodsOf: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const segments = url.split('/');
  return [...methodsOf].some(([other, methods]) => {
    const wider = other.split('/');
    return (
      other !== url &&
      methods.has(method) &&
      wider.length === segments.length &&
      wider.every((segment, index) => segment === segments[index] || segment.startsWith(':'))
    );
  });
}
