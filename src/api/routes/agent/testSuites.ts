import { z } from 'zod';
import {
  type TestSuite,
  testSuite,
  testSuiteInput,
  testSuitePatch,
} from '../../../agents/testSuites/testSuite.ts';
import type { TestCaseStore } from '../../../agents/testSuites/testSuiteStores.ts';
import { isoNow } from '../../../base/clock.ts';
import { invalid, notFound } from '../../../base/errors.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';

const suiteParams = projectParams.extend({ testSuiteId: z.string() });
const suiteAnswer = z.object({ data: testSuite });

export function testSuiteRoutes(app: App, deps: HttpDeps): void {
  const { storage } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const base = '/v1/projects/:projectId/test-suites';
  const now = isoNow(deps.clock);

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Tests', 'List the test suites'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(testSuite), ...errors() },
      },
    },
    async ({ params, query }) =>
      listAnswer(await storage.stores.testSuites.list(params.projectId, query), query),
  );

  app.post(
    base,
    {
      config: write,
      schema: {
        ...about('Tests', 'Create a test suite'),
        params: projectParams,
        body: testSuiteInput,
        response: { 201: suiteAnswer, ...errors('body', 409) },
      },
    },
    (request, reply) =>
      createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const { projectId } = request.params;
        const { name, testCaseIds = [] } = request.body;
        const data: TestSuite = {
          id: deps.makeId(),
          projectId,
          name,
          testCases: await connections(stores.testCases, projectId, testCaseIds),
          createdAt: now(),
          updatedAt: now(),
        };
        await stores.testSuites.insert(data);
        return { data };
      }),
  );

  app.get(
    `${base}/:testSuiteId`,
    {
      config: read,
      schema: {
        ...about('Tests', 'Get a test suite'),
        params: suiteParams,
        response: { 200: suiteAnswer, ...errors() },
      },
    },
    async ({ params }) => ({
      data: found(await storage.stores.testSuites.find(params.projectId, params.testSuiteId)),
    }),
  );

  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: `${base}/:testSuiteId`,
      config: write,
      schema: {
        ...about(
          'Tests',
          'Update a test suite',
          'Only the supplied fields change; testCaseIds replaces all connections.',
        ),
        params: suiteParams,
        body: testSuitePatch,
        response: { 200: suiteAnswer, ...errors('body') },
      },
      handler: ({ params, body }) =>
        storage.transaction(async (stores) => {
          const { projectId, testSuiteId } = params;
          const current = found(await stores.testSuites.find(projectId, testSuiteId, 'for update'));
          const data: TestSuite = {
            ...current,
            name: body.name ?? current.name,
            testCases: body.testCaseIds
              ? await connections(stores.testCases, projectId, body.testCaseIds)
              : current.testCases,
            updatedAt: now(),
          };
          await stores.testSuites.update(data);
          return { data };
        }),
    });
  }

  app.delete(
    `${base}/:testSuiteId`,
    {
      config: write,
      schema: {
        ...about('Tests', 'Delete a test suite', 'Its cases stay.'),
        params: suiteParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async ({ params }, reply) => {
      if (!(await storage.stores.testSuites.remove(params.projectId, params.testSuiteId)))
        throw notFound('Test suite');
      return await reply.code(204).send(null);
    },
  );
}

/** @throws {CallwayError} `unknown_test_case` naming each id that the project does not have. */
async function connections(
  testCases: TestCaseStore,
  projectId: string,
  ids: readonly string[],
): Promise<{ id: string }[]> {
  const known = await testCases.known(projectId, ids);
  const unknown = ids.flatMap((id, index) =>
    known.has(id.toLowerCase())
      ? []
      : [{ path: `/testCaseIds/${index}`, message: `there is no test case ${id}` }],
  );
  const [first] = unknown;
  if (first) throw invalid('unknown_test_case', first.message, unknown);
  return [...new Set(ids.map((id) => id.toLowerCase()))].map((id) => ({ id }));
}

function found(suite: TestSuite | undefined): TestSuite {
  if (!suite) throw notFound('Test suite');
  return suite;
}
