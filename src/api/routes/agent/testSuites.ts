import { z } from 'zod';
import {
  type TestCaseStore,
  type TestSuite,
  testSuite,
  testSuiteInput,
  testSuitePatch,
} from '../../../agents/testSuites/testSuite.ts';
import { invalid } from '../../../base/errors.ts';
import { crudRoutes } from '../../crud.ts';
import type { App, HttpDeps } from '../../ports.ts';

export function testSuiteRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Tests',
    noun: 'test suite',
    path: '/v1/projects/:projectId/test-suites',
    idParameter: 'testSuiteId',
    schema: z.object({ data: testSuite }),
    quota: 'testSuites',
    list: {
      schema: testSuite,
      run: ({ stores, projectId }, page) => stores.testSuites.list(projectId, page),
    },
    create: {
      body: testSuiteInput,
      async run({ stores, projectId, id, now }, { name, testCaseIds = [] }) {
        const testCases = await connections(stores.testCases, projectId, testCaseIds);
        const data: TestSuite = { id, projectId, name, testCases, createdAt: now, updatedAt: now };
        await stores.testSuites.insert(data);
        return { data };
      },
    },
    get: {
      async run({ stores, projectId, id }) {
        const data = await stores.testSuites.find(projectId, id);
        return data && { data };
      },
    },
    update: {
      methods: ['PUT', 'PATCH'],
      description: 'Only the supplied fields change; testCaseIds replaces all connections.',
      body: testSuitePatch,
      async run({ stores, projectId, id, now }, { name, testCaseIds }) {
        const current = await stores.testSuites.find(projectId, id, 'for update');
        if (!current) return undefined;
        const testCases = testCaseIds
          ? await connections(stores.testCases, projectId, testCaseIds)
          : current.testCases;
        const data: TestSuite = { ...current, name: name ?? current.name, testCases, updatedAt: now };
        await stores.testSuites.update(data);
        return { data };
      },
    },
    remove: {
      description: 'Its test cases stay.',
      run: ({ stores, projectId, id }) => stores.testSuites.remove(projectId, id),
    },
  });
}

/** @throws {CallwayError} `unknown_test_case` with each id that the project does not have. */
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
