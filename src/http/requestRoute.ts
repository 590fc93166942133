import type { FastifyRequest } from 'fastify';

import type { App } from './app.ts';

type Route = FastifyRequest['routeOptions'];

declare module 'fastify' {
  interface FastifyRequest {
    /** As `routeOptions`, which gathers all of a route's settings anew each time that it is asked. */
    readonly route: Route;
    /** What `route` has found, once it was asked. */
    knownRoute: Route | undefined;
  }
}

/** Lets every request say its route at little cost, since several hooks ask. */
export function rememberRoutes(app: App): void {
  app.decorateRequest('knownRoute', undefined);
  app.decorateRequest('route', {
    getter(this: FastifyRequest) {
      this.knownRoute ??= this.routeOptions;
      return this.knownRoute;
    },
  });
}
