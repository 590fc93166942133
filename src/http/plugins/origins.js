import cors, {} from '@fastify/cors';
/**
 * Lets pages of the named origins call the API; does nothing where none is named. A preflight ends here, and any other
 * OPTIONS goes on to its route, as a method like all others.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export async function allowOrigins(app, origins) {
  if (origins.length === 0) return;
  const options = {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'x-session-id', 'etag', 'retry-after', 'idempotency-replayed'],
  };
  app.addHook('onRequest', (request, reply, done) => {
    // No hook after this one sees a preflight.
    reply.header('x-request-id', request.id);
    done();
  });
  await app.register(cors, {
    delegator: (request, done) => done(null, { ...options, preflight: isPreflight(request) }),
  });
}
function isPreflight({ headers }) {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
