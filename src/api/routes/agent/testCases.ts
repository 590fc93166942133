import {
  type TestCase,
  type TestCasePatch,
  testCase,
  testCaseInput,
  testCasePatch,
} from '../../../agents/testSuites/testCase.ts';
import { invalid } from '../../../base/errors.ts';
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
        await requirePatterns(deps, projectId, input);
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
        await requirePatterns(deps, projectId, patch);
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

/** @throws {CallwayError} 400 where a pattern takes more than linear time. */
async function requirePatterns(
  { patterns }: HttpDeps,
  projectId: string,
  { assertions = [], turns }: TestCasePatch,
): Promise<void> {
  const given = [
    ...assertions.map((assertion, at) => ({ assertion, path: `/assertions/${at}/value` })),
    ...(turns ?? []).flatMap((turn, at) =>
      'expect' in turn ? [{ assertion: turn.expect, path: `/turns/${at}/expect/value` }] : [],
    ),
  ];
  for (const { assertion, path } of given) {
    if (assertion.type !== 'regex') continue;
    const problem = await patterns.checkPattern(projectId, assertion.value);
    if (problem === undefined) continue;
    const message = `value is not a regular expression that can be matched in linear time: ${problem}`;
    throw invalid('invalid_request', message, [{ path, message }]);
  }
}
