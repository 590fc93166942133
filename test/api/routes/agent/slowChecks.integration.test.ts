import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { makeApiKey } from '../../../../src/agents/accounts/apiKey.ts';
import type { PatternMatcher, SchemaChecker } from '../../../../src/agents/schemaChecker.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { unused } from '../../../support/unused.ts';
import { createTestApp, type TestApp } from '../../support/testApp.ts';

const NOW = '2026-06-01T00:00:00.000Z';
const TOOL = {
  name: 'lookup',
  parameters: { type: 'object' },
  http: { method: 'GET', url: 'https://example.com/' },
};
const CASE = { name: 'Greeting', assertions: [{ type: 'regex', value: 'h(a|e)llo' }] };

let testApp: TestApp;
let project: string;
let key: string;
/** What happened: checks, and the beginning and end of transactions. */
const log: string[] = [];

beforeAll(async () => {
  const check = async () => {
    log.push('check');
    return undefined;
  };
  testApp = await createTestApp(
    {},
    {
      schemas: unused<SchemaChecker>('schemas', { checkSchema: check }),
      patterns: unused<PatternMatcher>('patterns', { checkPattern: check }),
    },
  );
  const { storage } = testApp;
  const id = uuidV7();
  project = `/v1/projects/${id}`;
  const times = { createdAt: NOW, updatedAt: NOW };
  await storage.stores.projects.insert({
    id,
    name: 'p',
    sessionIdleMinutes: 5,
    historyRetentionDays: 0,
    reportUsage: true,
    ...times,
  });
  const { key: made, ...digest } = makeApiKey('developer');
  key = made;
  const names = { id: uuidV7(), projectId: id, name: 'k', kind: 'developer', createdAt: NOW } as const;
  await storage.stores.apiKeys.insert({ ...digest, ...names, scopes: ['write'], lastUsedAt: null });
  const { transaction } = storage;
  vi.spyOn(storage, 'transaction').mockImplementation(async (work) => {
    log.push('begin');
    const result = await transaction(work);
    log.push('end');
    return result;
  });
});
afterAll(() => testApp.close());

const send = async (method: 'POST' | 'PATCH', path: string, body: object) => {
  log.length = 0;
  const headers = { authorization: `Bearer ${key}` };
  const answer = await testApp.app.inject({ method, url: project + path, headers, payload: body });
  expect(answer.statusCode).toBeLessThan(300);
  return answer.json<{ id: string }>();
};

/** On the embedded database one open transaction holds up the queries of all projects. */
test.each([
  ['JSON Schema of a tool', '/tools', TOOL, { parameters: TOOL.parameters }],
  ['pattern of a test case', '/test-cases', CASE, { assertions: CASE.assertions }],
])(
  'The %s, whose check may take seconds, is checked before the transaction',
  async (_, path, item, patch) => {
    const { id } = await send('POST', path, item);
    expect(log).toEqual(['check', 'begin', 'end']);
    await send('PATCH', `${path}/${id}`, patch);
    expect(log).toEqual(['check', 'begin', 'end']);
  },
);
