import {
  type TestCase,
  testCase,
  testCaseInput,
  testCasePatch,
} from '../../../agents/testSuites/testCase.ts';
import { omitUndefined } from '../../../base/omitUndefined.ts';
import { crudRoutes } from '../../crud.ts';
import type { App, HttpDeps } from '../../ports.ts';

export function testCaseRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Tests',
    noun: 'test case',
    path: '/v1/projects/:projectId/test-cases',
    idParameter: 'testCaseId',
    schema: testCase,
    list: { run: ({ stores, projectId }, page) => stores.testCases.list(projectId, page) },
    create: {
      body: testCaseInput,
      async run({ stores, projectId, id, now }, input) {
        const created: TestCase = { id, projectId, ...input, createdAt: now, updatedAt: now };
        await stores.testCases.insert(created);
        return created;
      },
    },
    get: { run: ({ stores, projectId, id }) => stores.testCases.find(projectId, id) },
    update: {
      methods: ['PUT', 'PATCH'],
      description: 'PUT and PATCH are the same: only the supplied fields change.',
      body: testCasePatch,
      async run({ stores, projectId, id, now }, patch) {
        const current = await stores.testCases.find(projectId, id, 'for update');
        if (!current) return undefined;
        const updated: TestCase = { ...current, ...omitUndefined(patch), updatedAt: now };
        await stores.testCases.update(updated);
        return updated;
      },
    },
    remove: {
      description: 'Test suites lose their connection to it.',
      run: ({ stores, projectId, id }) => stores.testCases.remove(projectId, id),
    },
  });
}
