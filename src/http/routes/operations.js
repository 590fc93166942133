import { z } from 'zod';

/** A dependency that has not answered by then counts as away. */
const CHECK_TIMEOUT_MILLISECONDS = 2_000;
const health = z.object({ status: z.literal('ok') });
const readiness = z.object({
  status: z.enum(['ready', 'not_ready', 'draining']),
  dependencies: z.record(z.string(), z.enum(['up', 'down'])).describe('Each by name.'),
});
export function operationsRoutes(app, deps) {
  const tags = ['Operations'];
  app.get(
    '/healthz',
    { schema: { tags, summary: 'Whether the process lives', response: { 200: health } } },
    async () => ({ status: 'ok' }),
  );
  app.get(
    '/readyz',
    {
      schema: {
        tags,
        summary: 'Whether calls and requests are taken',
        response: { 200: readiness, 503: readiness },
      },
    },
    async (_request, reply) => {
      const results = await Promise.all(deps.dependencies.map(async (one) => [one.name, await isUp(one)]));
      const dependencies = Object.fromEntries(results.map(([name, up]) => [name, up ? 'up' : 'down']));
      const draining = deps.settings.isDraining();
      const ready = results.every(([, up]) => up) && !draining;
      return await reply
        .code(ready ? 200 : 503)
        .send({ status: draining ? 'draining' : ready ? 'ready' : 'not_ready', dependencies });
    },
  );
  app.get(
    '/metrics',
    { schema: { tags, summary: 'Numbers for Prometheus', produces: ['text/plain'] } },
    async (_request, reply) => reply.type(deps.metrics.contentType).send(await deps.metrics.render()),
  );
  app.get('/openapi.json', { schema: { tags, summary: 'This document' } }, async () => app.swagger());
}
async function isUp(dependency) {
  const late = new Promise((resolve) => {
    setTimeout(() => resolve(false), CHECK_TIMEOUT_MILLISECONDS).unref();
  });
  const answered = dependency.check().then(
    () => true,
    () => false,
  );
  return await Promise.race([answered, late]);
}
