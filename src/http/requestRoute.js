/** Lets every request say its route at little cost, since several hooks ask. */
export function rememberRoutes(app) {
  app.decorateRequest('knownRoute', undefined);
  app.decorateRequest('route', {
    getter() {
      this.knownRoute ??= this.routeOptions;
      return this.knownRoute;
    },
  });
}
