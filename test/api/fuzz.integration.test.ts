import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../support/gateway.ts';
import { arbitraryRequest } from './support/arbitraryRequest.ts';

const SEED = 20_261_121;
/** Requests to each operation; there are some fifty. */
const RUNS = 4;

const gateway = sharedGateway({ env: { RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0' } });
let project: TestProject;
let everything: string;
let ids: string[];
beforeAll(async () => {
  project = await gateway().createProject();
  everything = (await gateway().createKey(project, { scopes: ['read', 'write', 'calls', 'keys:write'] })).key;
  const create = async (list: string, body: object) => {
    const answer = await gateway().api('POST', `${project.path}/${list}`, { key: everything, body });
    return (answer.body.id ?? answer.body.data.id) as string;
  };
  const http = { method: 'GET', url: 'https://example.com/' };
  ids = [
    project.id,
    await create('tools', { name: 'fuzzed', http }),
    await create('test-cases', { name: 'fuzzed' }),
    await create('test-suites', { name: 'fuzzed' }),
    'start',
    'conversation',
    'greeted',
    '1',
  ];
});

test('Random requests cause no 500, no undocumented response and no crash', {
  timeout: 300_000,
}, async () => {
  const document = (await gateway().api('GET', '/openapi.json')).body;
  const statuses = new Map<number, number>();
  for (const operation of gateway().contract.operations) {
    const { method, path } = operation;
    if (method === 'DELETE' && path === '/v1/projects/{projectId}') continue;
    // A stream does not end.
    if (path.endsWith('/events')) continue;
    const isAdmins = path === '/v1/projects' || (path === '/v1/projects/{projectId}' && method === 'PATCH');
    const key = isAdmins ? gateway().adminToken : everything;
    await fc.assert(
      fc.asyncProperty(arbitraryRequest(operation, document, ids), async (request) => {
        const body = request.body === undefined ? {} : { body: request.body };
        // Throws when the status or the body is not documented.
        const { status } = await gateway().api(method, request.path + request.query, { key, ...body });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(status).toBeLessThan(500);
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
  }

  // Enough requests must pass validation.
  const count = (from: number, below: number) =>
    [...statuses].reduce((sum, [status, times]) => sum + (status >= from && status < below ? times : 0), 0);
  expect(count(200, 300)).toBeGreaterThan(50);
  expect(count(400, 500)).toBeGreaterThan(100);
  const after = await gateway().api('GET', `${project.path}/agent`, { key: everything });
  expect(after.status).toBe(200);
  expect((await gateway().api('POST', `${project.path}/pathway/validate`, { key: everything })).status).toBe(
    200,
  );
  expect((await gateway().api('GET', '/readyz')).body.status).toBe('ready');
});
