import { beforeAll, describe, expect, test } from 'vitest';

import { CONTACT_OUTCOMES } from '../../../../src/campaigns/contact.ts';
import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
beforeAll(async () => {
  project = await gateway().createProject();
  // No number of the project limits whom it may call.
  const callLimits = { ownCountriesOnly: false, blockedPrefixes: ['+886204'] };
  await gateway().api('PATCH', project.path, { body: { callLimits } });
});

const call = (method: string, path: string, body?: unknown, key = project.developerKey) =>
  gateway().api(method, `${project.path}${path}`, { key, ...(body === undefined ? {} : { body }) });

interface RehearsedCase {
  readonly contactId: string;
  readonly name: string;
  readonly runs: readonly { readonly seed: number }[];
}

const ALL_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WINDOWS = [{ days: ['mon', 'tue'], from: '09:00', to: '17:00' }];

async function create(input: object = {}): Promise<{ id: string; path: string }> {
  const { status, body } = await call('POST', '/campaigns', {
    name: 'Renewals',
    fromNumbers: ['+886223456789'],
    ...input,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: body.id, path: `/campaigns/${body.id}` };
}

describe('A campaign', () => {
  test('has the defaults of everything that was not given', async () => {
    const { path } = await create();
    expect((await call('GET', path)).body).toEqual({
      id: expect.any(String),
      name: 'Renewals',
      status: 'draft',
      fromNumbers: ['+886223456789'],
      callerId: 'fixed',
      schedule: { timezone: 'callee', windows: [{ days: ALL_DAYS, from: '08:00', to: '21:00' }] },
      pacing: { maxConcurrent: 5, callsPerMinute: 30 },
      retry: {
        maxAttempts: 3,
        rules: [
          { outcomes: ['busy'], afterMinutes: 15 },
          { outcomes: ['no_answer'], afterMinutes: 120 },
          { outcomes: ['machine'], afterMinutes: 240 },
          { outcomes: ['failed'], afterMinutes: 60 },
        ],
      },
      variables: {},
      metadata: {},
      pauseWhen: { failedPercent: 80, ofLast: 50 },
      keepOpen: false,
      counts: { total: 0, pending: 0, calling: 0, waiting: 0, done: 0, skipped: 0 },
      outcomes: Object.fromEntries(CONTACT_OUTCOMES.map((outcome) => [outcome, 0])),
      createdAt: expect.any(String),
    });
  });

  test('is rehearsed with its first contacts, and what happens to each follows from the seed', async () => {
    const { path } = await create({ variables: { shop: 'North' } });
    const rehearse = (contacts: number) => call('POST', `${path}/rehearse`, { contacts, seed: 3 });
    expect(await rehearse(2)).toMatchObject({ status: 409, body: { code: 'no_contacts' } });
    const contacts = [
      { toNumber: '0912345678' },
      { toNumber: '0912345679', externalId: 'c-2' },
      { toNumber: '0912345680' },
    ];
    await call('POST', `${path}/contacts`, { contacts });
    const ids = (await call('GET', `${path}/contacts`)).body.data.map(({ id }: { id: string }) => id);

    const { status, body } = await rehearse(2);
    expect(status, JSON.stringify(body)).toBe(202);
    expect(body.data).toMatchObject({
      name: 'Renewals',
      status: 'queued',
      seed: 3,
      outcomes: { answered: 0, opt_out: 0 },
    });
    const shown = ({ contactId, name, runs: [play] }: RehearsedCase) => [contactId, name, play?.seed];
    const cases = body.data.cases.map(shown);
    expect(cases).toEqual([
      [ids[0], '+886*******78', expect.any(Number)],
      [ids[1], 'c-2', expect.any(Number)],
    ]);
    expect(body.data.cases[0]).not.toHaveProperty('testCaseId');
    expect((await rehearse(2)).body.data.cases.map(shown)).toEqual(cases);
    expect((await call('GET', path)).body.counts).toMatchObject({ total: 3, pending: 3 });
    expect((await call('POST', `${path}/rehearse`, { contacts: 101 })).status).toBe(400);

    await call('POST', `${path}/cancel`);
    expect(await rehearse(2)).toMatchObject({ status: 409, body: { code: 'campaign_state' } });
  });

  test('is changed field by field inside schedule, pacing, retry and pauseWhen, and lists are replaced', async () => {
    const { path } = await create({ schedule: { windows: WINDOWS, startAt: '2026-12-01T08:00:00+08:00' } });
    const rules = [{ outcomes: ['failed'], afterMinutes: 5 }];
    const patch = {
      description: 'New',
      schedule: { timezone: 'Asia/Taipei', endAt: '2026-12-02T00:00:00Z' },
      pacing: { callsPerMinute: 7 },
      retry: { rules },
      pauseWhen: { ofLast: 20 },
    };
    const { status, body } = await call('PATCH', path, patch);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      description: 'New',
      schedule: {
        startAt: '2026-12-01T00:00:00.000Z',
        endAt: '2026-12-02T00:00:00.000Z',
        timezone: 'Asia/Taipei',
        windows: WINDOWS,
      },
      pacing: { maxConcurrent: 5, callsPerMinute: 7 },
      retry: { maxAttempts: 3, rules },
      pauseWhen: { failedPercent: 80, ofLast: 20 },
    });
    expect((await call('GET', path)).body).toEqual(body);
    expect((await call('PATCH', path, { pauseWhen: null })).body.pauseWhen).toBeNull();
  });

  test.each([
    ['a window over midnight', { schedule: { windows: [{ days: ['mon'], from: '22:00', to: '06:00' }] } }],
    ['an unknown time zone', { schedule: { timezone: 'Mars/Olympus' } }],
    [
      'an end before its start',
      { schedule: { startAt: '2026-12-02T00:00:00Z', endAt: '2026-12-01T00:00:00Z' } },
    ],
    ['a retry after an answer', { retry: { rules: [{ outcomes: ['answered'], afterMinutes: 5 }] } }],
    ['a retry after 31 days', { retry: { rules: [{ outcomes: ['busy'], afterMinutes: 43_201 }] } }],
    ['more than 600 calls a minute', { pacing: { callsPerMinute: 601 } }],
    ['more than 200 calls at once', { pacing: { maxConcurrent: 201 } }],
    ['a from number that is none', { fromNumbers: ['12'] }],
    ['a start without a zone', { schedule: { startAt: '2026-12-01T09:00:00' } }],
    ['an unknown field', { speed: 1 }],
  ])('with %s is refused', async (_, input) => {
    const { status, body } = await call('POST', '/campaigns', { name: 'x', ...input });
    expect([status, body.details?.length]).toEqual([400, 1]);
  });

  test('needs the scope calls to be changed, is listed with read, and is deleted with its contacts', async () => {
    const { path, id } = await create();
    await call('POST', `${path}/contacts`, { contacts: [{ toNumber: '+886912345678' }] });
    const { key } = await gateway().createKey(project, {
      name: 'r',
      kind: 'developer',
      scopes: ['read', 'write'],
    });
    expect((await call('PATCH', path, { name: 'No' }, key)).status).toBe(403);
    expect((await call('POST', `${path}/contacts`, { contacts: [{}] }, key)).status).toBe(403);
    // The newest one is first.
    expect((await call('GET', '/campaigns', undefined, key)).body.data[0]).toMatchObject({ id });
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
    expect((await call('GET', `${path}/contacts`)).body.code).toBe('campaign_not_found');
    const log = await gateway().api('GET', `${project.path}/audit-log?limit=10`);
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['campaign.created', 'campaign.contacts_added', 'campaign.deleted']),
    );
  });
});

describe('Contacts', () => {
  test('are taken in any notation, and each row that cannot be called says why', async () => {
    const { path } = await create();
    await call('POST', `${path}/contacts`, { contacts: [{ toNumber: '+886987654321' }] });
    const { status, body } = await call('POST', `${path}/contacts`, {
      contacts: [
        { toNumber: '0912 345 678', externalId: 'c-1', variables: { name: 'Ada' }, priority: 2 },
        { toNumber: '  ' },
        { variables: { name: 'Nobody' } },
        { toNumber: '12345' },
        { toNumber: '886912345678' },
        { toNumber: '+886-987-654-321' },
        { toNumber: '0204123456' },
        { toNumber: '0911111111', timezone: 'Mars/Olympus' },
        { toNumber: '+1 (310) 555-0123', timezone: 'America/New_York' },
      ],
    });
    expect([status, body.accepted]).toEqual([201, 2]);
    expect(body.skipped.map(({ index, code }: { index: number; code: string }) => [index, code])).toEqual([
      [1, 'missing_number'],
      [2, 'missing_number'],
      [3, 'invalid_number'],
      [4, 'duplicate'],
      [5, 'duplicate'],
      [6, 'destination_not_allowed'],
      [7, 'bad_timezone'],
    ]);
    const { counts } = (await call('GET', path)).body;
    expect(counts).toEqual({ total: 3, pending: 3, calling: 0, waiting: 0, done: 0, skipped: 0 });
    const list = (await call('GET', `${path}/contacts`)).body;
    expect(list.data.map(({ toNumber }: { toNumber: string }) => toNumber)).toEqual([
      '+886987654321',
      '+886912345678',
      '+13105550123',
    ]);
    expect(list.data[1]).toMatchObject({
      externalId: 'c-1',
      variables: { name: 'Ada' },
      priority: 2,
      status: 'pending',
      attempts: [],
      nextAttemptAt: expect.any(String),
    });
    expect(list.data[2].timezone).toBe('America/New_York');
  });

  test('are called in their hours: nextAttemptAt is the next opening by their clocks, or their notBefore', async () => {
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const { path } = await create({ schedule: { windows: [{ days, from: '09:00', to: '09:01' }] } });
    const notBefore = '2030-01-01T00:00:00Z';
    await call('POST', `${path}/contacts`, {
      contacts: [
        { toNumber: '0912345678' },
        { toNumber: '0912345679', notBefore, timezone: 'America/New_York' },
      ],
    });
    const [one, other] = (await call('GET', `${path}/contacts`)).body.data;
    // 09:00 in Taipei.
    expect(one.nextAttemptAt).toMatch(/T01:00/);
    expect(other.nextAttemptAt).toBe('2030-01-01T14:00:00.000Z');
  });

  test('are found by status, externalId and number, page by page', async () => {
    const { path } = await create();
    const contacts = [1, 2, 3].map((n) => ({
      toNumber: `+88691234567${n}`,
      externalId: n > 1 ? 'pair' : 'single',
    }));
    await call('POST', `${path}/contacts`, { contacts });
    const found = async (query: string) => {
      const { body } = await call('GET', `${path}/contacts?${query}`);
      return body.data.map(({ toNumber }: { toNumber: string }) => toNumber.at(-1)).join('');
    };
    expect(await found('externalId=pair')).toBe('23');
    expect(await found('toNumber=%2B886912345671')).toBe('1');
    for (const notation of ['0912345671', '0912-345-671', '886912345671', '+886912345671'])
      expect([notation, await found(`toNumber=${notation}`)]).toEqual([notation, '1']);
    expect(await found('toNumber=none')).toBe('');
    expect(await found('status=pending')).toBe('123');
    expect(await found('status=done')).toBe('');
    expect(await found('outcome=busy')).toBe('');
    const first = (await call('GET', `${path}/contacts?limit=2`)).body;
    expect(first.pagination).toMatchObject({ total: 3, nextCursor: expect.any(String) });
    expect(await found(`limit=2&cursor=${first.pagination.nextCursor}`)).toBe('3');
  });

  test.each([
    ['', 'text/csv; charset=utf-8'],
    ['*/*', 'text/csv; charset=utf-8'],
    ['text/csv, application/json', 'text/csv; charset=utf-8'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/jsonl', 'application/x-ndjson'],
    ['application/json, text/csv', 'application/x-ndjson'],
  ])('are reported to who accepts %j as %s', async (accept, type) => {
    const { path } = await create();
    const response = await fetch(`${gateway().url}${project.path}${path}/report`, {
      headers: { authorization: `Bearer ${project.developerKey}`, accept },
    });
    expect(response.headers.get('content-type')).toBe(type);
  });

  test('that are removed are skipped, and stay so', async () => {
    const { path } = await create();
    await call('POST', `${path}/contacts`, { contacts: [{ toNumber: '0912345678' }] });
    const contact = (await call('GET', `${path}/contacts`)).body.data[0];
    for (let again = 0; again < 2; again += 1)
      expect((await call('DELETE', `${path}/contacts/${contact.id}`)).status).toBe(204);
    expect((await call('GET', `${path}/contacts?status=skipped`)).body.data).toEqual([
      { ...contact, status: 'skipped', skipReason: 'removed', nextAttemptAt: undefined },
    ]);
    expect((await call('GET', path)).body.counts).toMatchObject({ total: 1, pending: 0, skipped: 1 });
    expect((await call('DELETE', `${path}/contacts/nobody`)).body.code).toBe('contact_not_found');
  });

  test('are added once for an Idempotency-Key', async () => {
    const { path } = await create();
    const headers = { 'idempotency-key': path };
    const body = { contacts: [{ toNumber: '0912345678' }] };
    const add = () =>
      gateway().api('POST', `${project.path}${path}/contacts`, { key: project.developerKey, body, headers });
    const first = await add();
    const second = await add();
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
  });

  test('that cannot be read are refused with the place of the fault', async () => {
    const { path } = await create();
    const { status, body } = await call('POST', `${path}/contacts`, { contacts: [{ toNumber: 7 }] });
    expect([status, body.error]).toEqual([400, 'toNumber must be a string, not a number']);
    expect(body.details[0].path).toBe('/contacts/0/toNumber');
  });

  test('come 10,000 at once', async () => {
    const { path } = await create();
    const contacts = Array.from({ length: 10_000 }, (_, n) => ({
      toNumber: `+8869${String(n).padStart(8, '0')}`,
      variables: { name: `Person ${n}`, city: 'Taipei' },
    }));
    const { body } = await call('POST', `${path}/contacts`, { contacts });
    expect(body).toEqual({ accepted: 10_000, skipped: [] });
    const tooMany = await call('POST', `${path}/contacts`, {
      contacts: [...contacts, { toNumber: '0912345678' }],
    });
    expect(tooMany.status).toBe(400);
  });
});
