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
    const recorded = [...methodsOf].map(([url, methods]) => ({
      url,
      methods: new Set(methods),
      segments: url.split('/'),
    }));
    for (const path of recorded) {
      const { url } = path;
      const matching = recorded.filter((other) => isAsWide(other.segments, path.segments));
      const allowed = METHODS.filter((name) => matching.some(({ methods }) => methods.has(name)));
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

/**
 * True for the same path, and for one whose parameters match it too: the `GET` of `…/sessions/:sessionId` is allowed for
 * `…/sessions/search`.
 */
function isAsWide(other: readonly string[], path: readonly string[]): boolean {
  return (
    other.length === path.length &&
    other.every((segment, index) => segment === path[index] || segment.startsWith(':'))
  );
}
