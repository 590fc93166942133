import { z } from 'zod';
import { setDelayAwareTimer } from '../../base/async/eventLoopDelay.ts';
import type { Clock } from '../../base/values/clock.ts';
import { nodeReport } from '../../calls/nodes/nodeReport.ts';
import { CompressedBody } from '../compressedBody.ts';
import type { App, Dependency, HttpDeps } from '../ports.ts';
import { about, errorResponse, errors } from '../schemas.ts';
import { limitSource } from '../sourceLimits.ts';

/** A dependency that has not responded within this time counts as down. */
const CHECK_TIMEOUT_MS = 2_000;
/** Requests without a key, of one client, for what is costly to send. */
const OPEN_PER_MINUTE = 60;
const tags = ['Operations'];

const health = z.object({ status: z.literal('ok') });
const readiness = z.object({
  status: z
    .enum(['ready', 'not_ready', 'draining', 'starting', 'migrating'])
    .describe('`starting` and `migrating`: before the node serves the API.'),
  dependencies: z.record(z.string(), z.enum(['up', 'down'])).describe('By name.'),
  providers: z
    .record(
      z.string(),
      z.object({
        status: z.enum(['up', 'degraded']),
        reason: z.string().optional().describe('Of the last failure. The log has all of it.'),
      }),
    )
    .describe(
      'Providers of speech and chat by name, as they last answered this node with the installation’s keys. A degraded one does not make the node unready: others take over where there are some.',
    ),
  overloaded: z
    .array(z.string())
    .optional()
    .describe(
      'Parts of the node that are late: `main`, `voice`, `rtp`, `queue`. While there is one, new calls get 503 `node_overloaded`, and all else works.',
    ),
});

export function operationsRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/healthz',
    { schema: { tags, summary: 'Check that the process is alive', response: { 200: health } } },
    async () => ({ status: 'ok' as const }),
  );
  app.get(
    '/readyz',
    {
      schema: {
        tags,
        summary: 'Check that the node accepts requests and calls',
        response: { 200: readiness, 503: readiness },
      },
    },
    async (_request, reply) => {
      const checks = deps.operations.dependencies.map(
        async (one) => [one.name, await isUp(one, deps.clock)] as const,
      );
      const results = await Promise.all(checks);
      const dependencies = Object.fromEntries(
        results.map(([name, up]) => [name, up ? ('up' as const) : ('down' as const)]),
      );
      const draining = deps.settings.isDraining();
      const ready = results.every(([, up]) => up) && !draining;
      const status = draining ? 'draining' : ready ? 'ready' : 'not_ready';
      const overloaded = [...deps.settings.overloadedParts()];
      return await reply.code(ready ? 200 : 503).send({
        status,
        dependencies,
        providers: deps.settings.providers(),
        overloaded: overloaded.length > 0 ? overloaded : undefined,
      });
    },
  );
  if (deps.settings.showsMetrics === false) return;
  app.get(
    '/metrics',
    {
      schema: {
        tags,
        summary: 'Metrics for Prometheus',
        description: `At most ${OPEN_PER_MINUTE} times a minute and client address.`,
        response: { 200: { content: { 'text/plain': { schema: z.string() } } }, 429: errorResponse },
      },
    },
    async (request, reply) => {
      await limitSource(deps.access.rateLimiter, request, 'requests for metrics', OPEN_PER_MINUTE);
      return await reply
        .type(deps.operations.metrics.contentType)
        .send(await deps.operations.metrics.render());
    },
  );
}

export function documentRoutes(app: App, { access: { rateLimiter } }: HttpDeps): void {
  const schema = {
    tags,
    summary: 'This OpenAPI document',
    description: `At most ${OPEN_PER_MINUTE} times a minute and client address.`,
    response: { 200: z.looseObject({}), 429: errorResponse },
  };
  // More than a megabyte, which each form of the console is made of.
  let document: CompressedBody | undefined;
  const build = () => new CompressedBody(Buffer.from(JSON.stringify(app.swagger())));
  // It blocks the event loop for a while: once the server has its address, before the first request.
  app.addHook('onListen', async () => {
    document = build();
  });
  app.get('/openapi.json', { schema }, async (request, reply) => {
    await limitSource(rateLimiter, request, 'requests for the API document', OPEN_PER_MINUTE);
    document ??= build();
    reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8');
    return await document.send(request, reply);
  });
}

function isUp(dependency: Dependency, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setDelayAwareTimer(clock, () => resolve(false), CHECK_TIMEOUT_MS);
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

export function nodeRoutes(app: App, { operations: { nodeReports } }: HttpDeps): void {
  app.get(
    '/v1/nodes',
    {
      config: { access: { kind: 'admin' } },
      schema: {
        ...about(
          'Operations',
          'List the nodes of the installation',
          'What each running node does, in samples of 15 s over the last hour. A node that stopped or died disappears within a minute.',
        ),
        response: { 200: z.object({ data: z.array(nodeReport) }), ...errors() },
      },
    },
    async () => ({ data: [...(await nodeReports.list())] }),
  );
}

const shown = z.object({
  settings: z
    .record(z.string(), z.string())
    .describe('By name, as in the environment; secrets are `[redacted]`.'),
});

export function settingRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/v1/settings',
    {
      config: { access: { kind: 'admin' } },
      schema: {
        ...about(
          'Operations',
          'Get the settings of this node',
          'Those that are set, and the defaults of the others.',
        ),
        response: { 200: shown, ...errors() },
      },
    },
    async () => ({ settings: { ...deps.settings.shown } }),
  );
}
