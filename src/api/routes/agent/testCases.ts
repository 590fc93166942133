import { z } from 'zod';
import { requireQuota } from '../../../agents/accounts/quotas.ts';
import {
  type TestCase,
  type TestCasePatch,
  testCase,
  testCaseInput,
  testCasePatch,
} from '../../../agents/testSuites/testCase.ts';
import { type ErrorDetail, invalid, notFound } from '../../../base/errors.ts';
import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import type { HistoryDetail } from '../../../engine/history/historyStore.ts';
import { type CaseFromSession, caseFromSession } from '../../../testing/cases/caseFromSession.ts';
import { crudRoutes, requireListable } from '../../crud.ts';
import { idempotent } from '../../idempotency.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, projectParams } from '../../schemas.ts';

/** Sessions that one request makes cases of. */
const MAX_SESSIONS = 100;

export function testCaseRoutes(app: App, deps: HttpDeps): void {
  fromSessionRoute(app, deps);
  crudRoutes(app, deps, {
    tag: 'Tests',
    noun: 'test case',
    path: '/v1/projects/:projectId/test-cases',
    idParameter: 'testCaseId',
    schema: testCase,
    quota: 'testCases',
    list: { run: ({ stores, projectId }, page) => stores.testCases.list(projectId, page) },
    create: {
      body: testCaseInput,
      prepare: ({ projectId }, input) => requirePatterns(deps, projectId, input),
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
      prepare: ({ projectId }, patch) => requirePatterns(deps, projectId, patch),
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

function fromSessionRoute(app: App, deps: HttpDeps): void {
  app.post(
    '/v1/projects/:projectId/test-cases/from-session',
    {
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about(
          'Tests',
          'Make a test case of a session',
          'What the person said and pressed, with the results of the tools as mocks. `mask` replaces e-mail addresses, long numbers, keyed codes, names with which people introduce themselves, and the values of variables and tools whose names tell that they are personal.',
        ),
        params: projectParams,
        body: z
          .strictObject({
            sessionId: sessionIdField.optional(),
            sessionIds: z
              .array(sessionIdField)
              .min(1)
              .max(MAX_SESSIONS)
              .optional()
              .describe('A case of each of them, or of none where one fails; answered by `{data: [case]}`.'),
            name: testCaseInput.shape.name.optional().describe('With `sessionId` alone.'),
            mask: z.boolean().default(true),
          })
          .refine(({ sessionId, sessionIds }) => (sessionId === undefined) !== (sessionIds === undefined), {
            path: ['sessionId'],
            message: '{field} is needed, or sessionIds, and not both',
          })
          .refine(({ name, sessionIds }) => name === undefined || sessionIds === undefined, {
            path: ['name'],
            message: 'belongs to sessionId: cases of sessionIds are named by their sessions',
          }),
        response: { 201: z.union([testCase, z.object({ data: z.array(testCase) })]), ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const { sessionId, sessionIds = [], name, mask } = request.body;
      const wanted = sessionId === undefined ? [...new Set(sessionIds)] : [sessionId];
      const inputs = await casesFrom(deps, projectId, wanted, { name, mask });
      const sessionOf = async () => sessionId;
      return await idempotent(deps, { request, reply, status: 201, sessionOf }, async (stores) => {
        await requireQuota(stores, projectId, 'testCases', inputs.length);
        const now = new Date(deps.clock.now()).toISOString();
        const data: TestCase[] = [];
        for (const { sessionId: from, input } of inputs) {
          const created = { id: deps.makeId(), projectId, ...input, createdAt: now, updatedAt: now };
          requireListable(created);
          await stores.testCases.insert(created, from);
          data.push(created);
        }
        const [first] = data;
        return sessionId === undefined || !first ? { data } : first;
      });
    },
  );
}

/** @throws {CallwayError} 404 that names the unknown sessions, 400 where the person did nothing in one. */
async function casesFrom(
  { storage: { stores } }: HttpDeps,
  projectId: string,
  sessionIds: readonly string[],
  options: CaseFromSession,
) {
  const sessions: HistoryDetail[] = [];
  const unknown: ErrorDetail[] = [];
  for (const sessionId of sessionIds) {
    const session = await stores.history.find(projectId, sessionId);
    if (session) sessions.push(session);
    else unknown.push({ path: '/sessionIds', message: `There is no session ${sessionId}` });
  }
  if (unknown.length > 0) throw notFound('Session', unknown);
  return sessions.map((session) => ({
    sessionId: session.sessionId,
    input: caseFromSession(session, options),
  }));
}

/** @throws {CallwayError} 400 where a pattern takes more than linear time. */
async function requirePatterns(
  { agents: { patterns } }: HttpDeps,
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
