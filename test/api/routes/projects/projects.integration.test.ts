import { describe, expect, test } from 'vitest';

import { NEW_PROJECT_CALLING_HOURS } from '../../../../src/agents/accounts/callingHours.ts';
import { DEFAULT_QUOTAS } from '../../../../src/agents/accounts/quotas.ts';
import { sharedGateway } from '../../../support/gateway.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNKNOWN_ID = '0197a000-0000-7000-8000-000000000000';

const NEW_LIMITS = {
  allowedPrefixes: [],
  blockedPrefixes: [],
  ownCountriesOnly: true,
  blockSpecialRates: true,
  allowedSipDomains: [],
  maxConcurrentCalls: 10,
  maxCallsPerMinute: 60,
  maxCallsPerHour: null,
  maxCallMinutesPerDay: null,
  rates: [],
  maxSpendingPerDay: null,
};
const gateway = sharedGateway();

describe('Projects', () => {
  test('have defaults', async () => {
    const created = await gateway().api('POST', '/v1/projects', { body: { name: 'Clinic' } });

    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(UUID_V7),
      name: 'Clinic',
      sessionIdleMinutes: 30,
      chatIdleMinutes: 60,
      historyRetentionDays: 30,
      retentionDays: { sessions: 30, recordings: 30, deliveries: 30, traces: 30, tests: 30 },
      reportUsage: false,
      callLimits: NEW_LIMITS,
      quotas: DEFAULT_QUOTAS,
      callingHours: NEW_PROJECT_CALLING_HOURS,
      reviewRules: [],
      createdAt: expect.stringMatching(ISO_TIME),
      updatedAt: created.body.createdAt,
    });
    const found = await gateway().api('GET', `/v1/projects/${created.body.id}`);
    expect(found.body).toEqual(created.body);
  });

  test('show after how many idle minutes their chats are ended', async () => {
    const { path } = await gateway().createProject('Idle');
    const idle = ({ body }: { body: { sessionIdleMinutes: number; chatIdleMinutes: number } }) => [
      body.sessionIdleMinutes,
      body.chatIdleMinutes,
    ];
    expect(idle(await gateway().api('GET', path))).toEqual([30, 60]);
    const changed = await gateway().api('PATCH', path, { body: { sessionIdleMinutes: 30 } });
    expect(idle(changed)).toEqual([30, 30]);
    const created = await gateway().api('POST', '/v1/projects', {
      body: { name: 'x', sessionIdleMinutes: 5 },
    });
    expect(idle(created)).toEqual([5, 5]);
  });

  test('change only the supplied fields', async () => {
    const { path } = await gateway().createProject('Before');
    const before = (await gateway().api('GET', path)).body;

    const after = await gateway().api('PATCH', path, {
      body: { reportUsage: true, historyRetentionDays: 0 },
    });

    expect(after.body).toEqual({
      ...before,
      reportUsage: true,
      historyRetentionDays: 0,
      retentionDays: { sessions: 0, recordings: 0, deliveries: 30, traces: 0, tests: 30 },
      updatedAt: after.body.updatedAt,
    });
    expect(Date.parse(after.body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
  });

  test('keep what retentionDays says, of which historyRetentionDays is the older name of sessions', async () => {
    const body = { name: 'Kept', retentionDays: { sessions: null, recordings: 7 } };
    const { body: created } = await gateway().api('POST', '/v1/projects', { body });
    const kept = { sessions: null, recordings: 7, deliveries: null, traces: null, tests: 30 };
    expect(created).toMatchObject({ historyRetentionDays: null, retentionDays: kept });
    const path = `/v1/projects/${created.id}`;
    expect((await gateway().api('GET', path)).body).toEqual(created);

    const change = async (patch: object) => (await gateway().api('PATCH', path, { body: patch })).body;
    expect(await change({ retentionDays: { deliveries: 3, tests: null } })).toMatchObject({
      retentionDays: { ...kept, deliveries: 3, tests: null },
    });
    expect(await change({ historyRetentionDays: 90, retentionDays: { recordings: null } })).toMatchObject({
      historyRetentionDays: 90,
      retentionDays: { sessions: 90, recordings: null, deliveries: 3, traces: 90, tests: null },
    });
    expect(await change({ retentionDays: { sessions: 1 } })).toMatchObject({ historyRetentionDays: 1 });
    const log = await gateway().api('GET', `${path}/audit-log`);
    expect(log.body.data[0].details).toMatchObject({ retentionDays: { sessions: 1 } });
  });

  test('have call limits that only the operator changes, with audit log entries', async () => {
    const body = { name: 'Limited', callLimits: { blockedPrefixes: ['+1900'], maxConcurrentCalls: 4 } };
    const { body: created } = await gateway().api('POST', '/v1/projects', { body });
    expect(created.callLimits).toEqual({ ...NEW_LIMITS, ...body.callLimits });
    const path = `/v1/projects/${created.id}`;
    const rates = [{ prefix: '+886', perMinute: 0.04 }];
    const callLimits = { maxConcurrentCalls: null, maxCallMinutesPerDay: 600, rates };
    const patched = await gateway().api('PATCH', path, { body: { callLimits } });
    expect(patched.body.callLimits).toEqual({
      ...NEW_LIMITS,
      blockedPrefixes: ['+1900'],
      maxConcurrentCalls: null,
      maxCallMinutesPerDay: 600,
      rates,
    });
    const log = await gateway().api('GET', `${path}/audit-log`);
    expect(log.body.data[0]).toMatchObject({
      action: 'project.updated',
      details: { changed: ['callLimits'], callLimits },
    });
    const { key } = await gateway().createKey({ path }, { kind: 'secret' });
    expect((await gateway().api('PATCH', path, { key, body: { callLimits } })).status).toBe(401);
  });

  test.each([
    ['no name', {}, '/name'],
    ['an unknown kind of data', { name: 'x', retentionDays: { words: 1 } }, '/retentionDays/words'],
    ['an unknown field', { name: 'x', colour: 'red' }, '/colour'],
    [
      'a rate of less than nothing',
      { name: 'x', callLimits: { rates: [{ prefix: '+886', perMinute: -1 }] } },
      '/callLimits/rates/0/perMinute',
    ],
    ['null for a flag', { name: 'x', reportUsage: null }, '/reportUsage'],
  ])('refuse %s', async (_, body, path) => {
    const answer = await gateway().api('POST', '/v1/projects', { body });

    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request', details: [{ path }] });
    expect(answer.body.error).toBe(answer.body.details[0].message);
  });

  test.each(['GET', 'PATCH', 'DELETE'])('respond 404 to %s of an unknown project', async (method) => {
    const request = method === 'PATCH' ? { body: { name: 'x' } } : {};
    for (const id of [UNKNOWN_ID, 'rubbish', "'; DROP TABLE projects"]) {
      const answer = await gateway().api(method, `/v1/projects/${encodeURIComponent(id)}`, request);
      expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
    }
  });

  test('are deleted with their keys and data; the audit log stays', async () => {
    const { path, developerKey } = await gateway().createProject();
    const input = { name: 'gone', http: { method: 'GET', url: 'https://example.com/' } };
    await gateway().api('POST', `${path}/tools`, { key: developerKey, body: input });

    expect((await gateway().api('DELETE', path)).status).toBe(204);

    expect((await gateway().api('GET', path)).status).toBe(404);
    expect((await gateway().api('DELETE', path)).status).toBe(404);
    expect((await gateway().api('GET', `${path}/tools`, { key: developerKey })).status).toBe(401);
    const log = await gateway().api('GET', `${path}/audit-log`);
    expect(log.body.data[0]).toMatchObject({ action: 'project.deleted', actor: { kind: 'admin' } });
  });
});

describe('Lists', () => {
  test('have limit, offset and total, oldest first', async () => {
    const { path, developerKey: key } = await gateway().createProject();
    const names = Array.from({ length: 7 }, (_, index) => `case ${index}`);
    for (const name of names) await gateway().api('POST', `${path}/test-cases`, { key, body: { name } });
    const list = async (query: string) => {
      const { body } = await gateway().api('GET', `${path}/test-cases${query}`, { key });
      const seen = body.data.map(({ name }: { name: string }) => name);
      return { names: seen, pagination: body.pagination };
    };

    expect(await list('')).toEqual({
      names,
      pagination: { limit: 50, offset: 0, total: 7, nextCursor: null },
    });
    expect(await list('?limit=3')).toEqual({
      names: names.slice(0, 3),
      pagination: { limit: 3, offset: 0, total: 7, nextCursor: expect.any(String) },
    });
    expect(await list('?limit=3&offset=6')).toEqual({
      names: names.slice(6),
      pagination: { limit: 3, offset: 6, total: 7, nextCursor: null },
    });
    expect(await list('?limit=7&offset=0')).toMatchObject({ pagination: { total: 7 } });
    expect(await list('?offset=700')).toEqual({
      names: [],
      pagination: { limit: 50, offset: 700, total: 7, nextCursor: null },
    });
  });

  test.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'limit=1&limit=2',
    'limit=99999999999',
    'limit=0x10',
    'offset=-1',
    'offset=1e3',
    'offset=9999999999',
  ])('refuse ?%s', async (query) => {
    const answer = await gateway().api('GET', `/v1/projects?${query}`);

    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(answer.body.details[0].path).toBe(`/${query.split('=')[0]}`);
  });
});
