import { CallwayError } from '../../base/errors.ts';
import type { App } from '../app.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/**
 * Notes every route that is registered after this call.
 *
 * @returns A function that answers 405 with `Allow` for the methods that the noted paths lack.
 */
export function watchMethods(app: App): () => void {
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const known = methodsOf.get(url) ?? new Set();
    methodsOf.set(url, known);
    for (const name of [method].flat()) known.add(name);
  });
  return () => {
    // As it is now: the routes that are added here are noted too.
    const noted = new Map([...methodsOf].map(([url, methods]) => [url, new Set(methods)]));
    for (const [url, known] of noted) {
      const allowed = METHODS.filter((name) => known.has(name) || isTakenByWider(name, url, noted));
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

/** Whether a path with parameters takes the method at this place, as `GET …/sessions/:sessionId` does at `…/sessions/search`. */
function isTakenByWider(
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
