import { z } from 'zod';
import {
  type TestCase,
  testCase,
  testCaseInput,
  testCasePatch,
} from '../../../agents/testSuites/testCase.ts';
import { isoNow } from '../../../base/clock.ts';
import { notFound } from '../../../base/errors.ts';
import { omitUndefined } from '../../../base/omitUndefined.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';

const caseParams = projectParams.extend({ testCaseId: z.string() });

export function testCaseRoutes(app: App, deps: HttpDeps): void {
  const { storage } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const base = '/v1/projects/:projectId/test-cases';
  const now = isoNow(deps.clock);

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Tests', 'List the test cases'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(testCase), ...errors() },
      },
    },
    async ({ params, query }) =>
      listAnswer(await storage.stores.testCases.list(params.projectId, query), query),
  );

  app.post(
    base,
    {
      config: write,
      schema: {
        ...about('Tests', 'Create a test case'),
        params: projectParams,
        body: testCaseInput,
        response: { 201: testCase, ...errors('body', 409) },
      },
    },
    (request, reply) =>
      createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const { projectId } = request.params;
        const created: TestCase = {
          id: deps.makeId(),
          projectId,
          ...request.body,
          createdAt: now(),
          updatedAt: now(),
        };
        await stores.testCases.insert(created);
        return created;
      }),
  );

  app.get(
    `${base}/:testCaseId`,
    {
      config: read,
      schema: {
        ...about('Tests', 'Get a test case'),
        params: caseParams,
        response: { 200: testCase, ...errors() },
      },
    },
    async ({ params }) => found(await storage.stores.testCases.find(params.projectId, params.testCaseId)),
  );

  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: `${base}/:testCaseId`,
      config: write,
      schema: {
        ...about(
          'Tests',
          'Update a test case',
          'PUT and PATCH are the same: only the supplied fields change.',
        ),
        params: caseParams,
        body: testCasePatch,
        response: { 200: testCase, ...errors('body') },
      },
      handler: ({ params, body }) =>
        storage.transaction(async (stores) => {
          const current = found(
            await stores.testCases.find(params.projectId, params.testCaseId, 'for update'),
          );
          const updated: TestCase = { ...current, ...omitUndefined(body), updatedAt: now() };
          await stores.testCases.update(updated);
          return updated;
        }),
    });
  }

  app.delete(
    `${base}/:testCaseId`,
    {
      config: write,
      schema: {
        ...about('Tests', 'Delete a test case', 'Suites lose their connection to it.'),
        params: caseParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async ({ params }, reply) => {
      if (!(await storage.stores.testCases.remove(params.projectId, params.testCaseId)))
        throw notFound('Test case');
      return await reply.code(204).send(null);
    },
  );
}

function found(one: TestCase | undefined): TestCase {
  if (!one) throw notFound('Test case');
  return one;
}
