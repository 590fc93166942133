import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import { REPORT_LOCALES } from '../../../testing/assertions/remark.ts';
import { htmlReport } from '../../../testing/reports/html.ts';
import { junitReport } from '../../../testing/reports/junit.ts';
import { listedRun, type RunInput, runInput, runStatus, testRun } from '../../../testing/runs/testRun.ts';
import type { RunSubject } from '../../../testing/runs/testRuns.ts';
import { idempotent } from '../../idempotency.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { preferredLocale, sessionIdField } from '../../requestHeaders.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';

const PROJECT = '/v1/projects/:projectId';
const RUNS = `${PROJECT}/test-runs`;
const RUN = `${RUNS}/:testRunId`;
const READ = { access: { kind: 'project', scope: 'read' } } as const;
const WRITE = { access: { kind: 'project', scope: 'write' } } as const;

const runParams = projectParams.extend({ testRunId: z.string() });
/** Everything has a default, so that no body is one too. */
const body = runInput.nullish();
export const answer = z.object({ data: testRun });

const DESCRIPTION = `Plays each case against the agent and judges its assertions, in the background: poll \`GET …/test-runs/{id}\` until \`endedAt\` is set.
A test sends no webhook, remembers no customer, counts in no limit of sessions or calls, and calls no tool but those that it mocks or allows.
429 \`quota_exceeded\` names the quota: \`testRuns\`, or one of what vendors do in a day.`;

export function testRunRoutes(app: App, deps: HttpDeps): void {
  startRoute(app, deps, {
    path: `${PROJECT}/test-suites/:testSuiteId/runs`,
    summary: 'Run a test suite',
    params: projectParams.extend({ testSuiteId: z.string() }),
    subject: ({ projectId, testSuiteId = '' }) => deps.agents.tests.suite(projectId, testSuiteId),
  });
  startRoute(app, deps, {
    path: `${PROJECT}/test-cases/:testCaseId/runs`,
    summary: 'Run a test case',
    params: projectParams.extend({ testCaseId: z.string() }),
    subject: ({ projectId, testCaseId = '' }) => deps.agents.tests.case(projectId, testCaseId),
  });
  replayRoute(app, deps);
  listRoute(app, deps);
  getRoute(app, deps);
  cancelRoute(app, deps);
  junitRoute(app, deps);
  htmlRoute(app, deps);
}

interface StartRoute {
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject<typeof projectParams.shape>;
  subject(params: { projectId: string; testSuiteId?: string; testCaseId?: string }): Promise<RunSubject>;
}

function startRoute(app: App, deps: HttpDeps, { path, summary, params, subject }: StartRoute): void {
  app.post(
    path,
    {
      config: WRITE,
      schema: {
        ...about('Tests', summary, DESCRIPTION),
        params,
        body,
        response: { 202: answer, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const wanted = await subject(request.params);
      return await startRun(deps, request, reply, wanted, request.body ?? runInput.parse({}));
    },
  );
}

function replayRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${PROJECT}/sessions/:sessionId/replay`,
    {
      config: WRITE,
      schema: {
        ...about(
          'Tests',
          'Replay a session',
          'Plays what the person said, as a chat, against a version; the run shows the old and the new answer of each turn. Tools answer as they did.',
        ),
        params: projectParams.extend({ sessionId: sessionIdField }),
        body: z.strictObject({ version: runInput.shape.version }),
        response: { 202: answer, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId, sessionId } = request.params;
      const subject = await deps.agents.tests.replay(projectId, sessionId);
      return await startRun(deps, request, reply, subject, runInput.parse(request.body));
    },
  );
}

/** Answers with a new run, and announces it. */
export async function startRun(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  subject: RunSubject,
  input: RunInput,
): Promise<z.infer<typeof answer>> {
  const { projectId } = projectParams.parse(request.params);
  const release = await deps.agents.tests.release(projectId, input);
  const sessionOf = async () => subject.replaysSessionId ?? undefined;
  const started = await idempotent(deps, { request, reply, status: 202, sessionOf }, async (stores) => ({
    data: await deps.agents.tests.create(stores, projectId, { ...subject, input, release }),
  }));
  await deps.agents.tests.announce(started.data, subject, input);
  return started;
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    RUNS,
    {
      config: READ,
      schema: {
        ...about(
          'Tests',
          'List test runs',
          'Newest first. The newest 500 are kept, for `retentionDays.tests`.',
        ),
        params: projectParams,
        querystring: pageQuery.extend({
          testSuiteId: z.string().min(1).max(128).optional(),
          status: runStatus.optional(),
        }),
        response: { 200: listOf(listedRun), ...errors() },
      },
    },
    async ({ params, query }) => {
      const { limit, offset, cursor, ...filter } = query;
      const page = { limit, offset, cursor };
      const found = await stores.testRuns.list(params.projectId, omitUndefined(filter), page);
      return listResponse(found, page);
    },
  );
}

function getRoute(app: App, { agents: { tests } }: HttpDeps): void {
  app.get(
    RUN,
    {
      config: READ,
      schema: {
        ...about('Tests', 'Get a test run', 'While it goes on, with what has been played so far.'),
        params: runParams,
        response: { 200: answer, ...errors() },
      },
    },
    async ({ params }) => ({ data: await tests.find(params.projectId, params.testRunId) }),
  );
}

function cancelRoute(app: App, { agents: { tests } }: HttpDeps): void {
  app.post(
    `${RUN}/cancel`,
    {
      config: WRITE,
      schema: {
        ...about('Tests', 'Cancel a test run', '409 `test_run_ended` where it has ended otherwise.'),
        params: runParams,
        response: { 200: answer, ...errors(409) },
      },
    },
    async ({ params }) => ({ data: await tests.cancel(params.projectId, params.testRunId) }),
  );
}

function junitRoute(app: App, { agents: { tests } }: HttpDeps): void {
  app.get(
    `${RUN}/junit`,
    {
      config: READ,
      schema: {
        ...about('Tests', 'Get a test run as JUnit XML'),
        params: runParams,
        response: { 200: text('application/xml'), ...errors() },
      },
    },
    async ({ params: { projectId, testRunId } }, reply) => {
      const report = junitReport(await tests.find(projectId, testRunId));
      return reply.type('application/xml; charset=utf-8').headers(REPORT_HEADERS).send(report);
    },
  );
}

function htmlRoute(app: App, { agents: { tests }, audio: { recordings } }: HttpDeps): void {
  app.get(
    `${RUN}/report`,
    {
      config: { ...READ, isLong: true },
      schema: {
        ...about(
          'Tests',
          'Get a test run as an HTML report',
          'One page with all that it shows and plays; of recordings the first 64 MiB, failed cases first, and links to the others. In English or Traditional Chinese, by `Accept-Language`.',
        ),
        params: runParams,
        response: { 200: text('text/html'), ...errors() },
      },
    },
    async ({ params: { projectId, testRunId }, headers }, reply) => {
      const locale = preferredLocale(headers['accept-language'], REPORT_LOCALES);
      const detail = await tests.detail(projectId, testRunId);
      const run = await tests.find(projectId, testRunId);
      const report = Readable.from(htmlReport(run, detail, { locale, recordings: recordings.store }));
      return reply
        .type('text/html; charset=utf-8')
        .headers({ ...REPORT_HEADERS, vary: 'Accept-Language' })
        .send(report);
    },
  );
}

/** A response that is no JSON. Typed as a plain object, since a stream is sent, not a value of the schema. */
function text(type: string): object {
  return { content: { [type]: { schema: z.string() } } };
}

/** The headers of reports, which show what tenants wrote and run none of it. */
const REPORT_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:",
  'x-content-type-options': 'nosniff',
};
