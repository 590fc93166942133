import { z } from 'zod';

import type { Clock } from '../../base/clock.ts';
import { setDelayAwareTimer } from '../../base/eventLoopDelay.ts';
import type { App } from '../app.ts';
import type { Dependency, HttpDeps } from '../ports.ts';

/** A dependency that has not answered by then counts as away. */
const CHECK_TIMEOUT_MILLISECONDS = 2_000;

const health = z.object({ status: z.literal('ok') });
const readiness = z.object({
  status: z.enum(['ready', 'not_ready', 'draining']),
  dependencies: z.record(z.string(), z.enum(['up', 'down'])).describe('Each by name.'),
});

export function operationsRoutes(app: App, deps: HttpDeps): void {
  const tags = ['Operations'];
  app.get(
    '/healthz',
    { schema: { tags, summary: 'Whether the process lives', response: { 200: health } } },
    async () => ({ status: 'ok' as const }),
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
      const results = await Promise.all(
        deps.dependencies.map(async (one) => [one.name, await isUp(one, deps.clock)] as const),
      );
      const dependencies = Object.fromEntries(
        results.map(([name, up]) => [name, up ? ('up' as const) : ('down' as const)]),
      );
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
}

export function documentRoutes(app: App): void {
  const schema = { tags: ['Operations'], summary: 'This document' };
  app.get('/openapi.json', { schema }, async () => app.swagger());
}

function isUp(dependency: Dependency, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setDelayAwareTimer(clock, () => resolve(false), CHECK_TIMEOUT_MILLISECONDS);
    const settle = (isAnswered: boolean) => {
      timer.cancel();
      resolve(isAnswered);
    };
    dependency.check().then(
      () => settle(true),
      () => settle(false),
    );
  });
}
