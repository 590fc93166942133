import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { type ApiRequest, startTwoGateways } from '../support/gateway.ts';
import { detectLeaks } from '../support/leaks.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';

const OUTBOUND = '/v1/calls/outbound';
const UNKNOWN_ID = '0197a000-0000-7000-8000-000000000000';

let nodes: Awaited<ReturnType<typeof startTwoGateways>>;
let receiver: LoopbackServer;
let assertNoLeaks: () => Promise<void>;
// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
const received: any[] = [];

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  receiver = await serveOnLoopback(async (request, response) => {
    received.push(await json(request));
    response.writeHead(204).end();
  });
  nodes = await startTwoGateways({ ALLOW_INSECURE_WEBHOOKS: 'true' });
});
afterAll(async () => {
  await nodes.stop();
  await receiver.close();
  await assertNoLeaks();
});

let lastDigits = 10_000_000;
/** Used by no other test of this file. */
const newNumber = () => {
  lastDigits += 1;
  return `09${lastDigits}`;
};

async function makeProject() {
  const project = await nodes.first.createProject();
  const [key, local] = [project.developerKey, newNumber()];
  const api = (method: string, path: string, request: ApiRequest = {}) =>
    nodes.first.api(method, project.path + path, { key, ...request });
  const trunk = await api('POST', '/trunks', { body: { name: 'Carrier', host: 'sip.example.com' } });
  expect(trunk.status).toBe(201);
  const number = await api('POST', '/phone-numbers', {
    body: { number: local, trunkIds: [trunk.body.id] },
  });
  const from = `+886${local.slice(1)}`;
  expect([number.status, number.body.number]).toEqual([201, from]);
  return { ...project, api, from, trunkId: trunk.body.id as string, numberId: number.body.id as string };
}

type Caller = Awaited<ReturnType<typeof makeProject>>;

const call = (
  project: Pick<Caller, 'id' | 'developerKey' | 'from'>,
  more: object = {},
  request: ApiRequest = {},
  node = nodes.first,
) =>
  node.api('POST', OUTBOUND, {
    key: project.developerKey,
    body: { projectId: project.id, fromNumber: project.from, toNumber: newNumber(), ...more },
    ...request,
  });

describe('An outbound call', () => {
  test('is accepted on both paths, and shown with its session', async () => {
    const project = await makeProject();
    const toNumber = newNumber();
    const more = { toNumber, dynamicVariables: { name: 'Ada' }, metadata: { order: 7 }, record: false };
    const { status, body } = await call(project, more);
    expect([status, body]).toEqual([
      202,
      { success: true, callId: expect.any(String), sessionId: expect.any(String) },
    ]);
    const shown = await project.api('GET', `/calls/${body.callId}`);
    expect(shown.body).toMatchObject({
      status: 'queued',
      direction: 'outbound',
      fromNumber: project.from,
      toNumber: `+886${toNumber.slice(1)}`,
      sessionId: body.sessionId,
      metadata: { order: 7 },
      record: false,
      ringTimeoutSeconds: 45,
      durationMs: null,
    });
    const session = await project.api('GET', `/sessions/${body.sessionId}`);
    expect(session.body.state).toMatchObject({
      channel: 'phone',
      callId: body.callId,
      variables: { name: 'Ada' },
    });
    const history = await project.api('GET', `/session-history/${body.sessionId}`);
    expect(history.body.call).toMatchObject({ id: body.callId, status: 'queued' });
    expect((await project.api('GET', `/calls/${body.callId}/sip-trace`)).body).toEqual({ messages: [] });

    const legacy = await nodes.first.api('POST', `/project/${project.id}/integration/phone/call/outbound`, {
      key: project.secretKey,
      body: { fromNumber: `0${project.from.slice(4)}`, toNumber: newNumber(), somethingElse: 1 },
    });
    expect([legacy.status, Object.keys(legacy.body).sort()]).toEqual([
      200,
      ['callId', 'sessionId', 'success'],
    ]);
    expect(legacy.headers.get('link')).toBe(`<${OUTBOUND}>; rel="successor-version"`);
    expect((await project.api('GET', '/calls?status=queued')).body.pagination.total).toBe(2);
  });

  test.each([
    ['no fromNumber', { fromNumber: undefined }, 400, 'invalid_request', '/fromNumber'],
    ['no number', { toNumber: '886912345678' }, 400, 'invalid_number', '/toNumber'],
    ['an unknown field', { ringTimeout: 5 }, 400, 'invalid_request', '/ringTimeout'],
    [
      'a bot on a private network',
      { media: { url: 'wss://10.0.0.1/', dialect: 'twilio' } },
      400,
      'invalid_target',
      '/media/url',
    ],
    ['a foreign fromNumber', { fromNumber: '+886900000001' }, 404, 'from_number_not_configured', undefined],
  ])('is rejected with %s', async (_what, more, status, code, path) => {
    const project = await makeProject();
    const answer = await call(project, more);
    expect([answer.status, answer.body.code, answer.body.details?.[0].path]).toEqual([status, code, path]);
    expect((await project.api('GET', '/calls')).body.pagination.total).toBe(0);
  });

  test('requires a key of the project in the body, with its scope', async () => {
    const [project, other] = [await makeProject(), await makeProject()];
    expect((await call(project, { projectId: other.id })).status).toBe(401);
    expect((await call(project, { projectId: UNKNOWN_ID })).status).toBe(401);
    expect((await call(project, { projectId: undefined })).status).toBe(400);
    expect((await call(project, {}, { key: null })).status).toBe(401);
    expect((await call(project, {}, { key: nodes.first.adminToken })).status).toBe(401);
    const { key } = await nodes.first.createKey(project, { scopes: ['read', 'write'] });
    expect(await call(project, {}, { key })).toMatchObject({ status: 403, body: { code: 'missing_scope' } });
  });
});

test('Orders with one Idempotency-Key at once, on two nodes, all get the first answer', async () => {
  const project = await makeProject();
  const toNumber = newNumber();
  const headers = { 'idempotency-key': 'at-once' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      call(project, { toNumber }, { headers }, index % 2 === 0 ? nodes.first : nodes.second),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
  expect(new Set(answers.map(({ body }) => body.callId)).size).toBe(1);
  expect(answers.filter((answer) => answer.headers.has('idempotency-replayed'))).toHaveLength(19);
});

describe('A queued call', () => {
  test('is canceled by its hangup: its number is free, and the session’s webhooks arrive', async () => {
    const project = await makeProject();
    const postSessionWebhook = {
      url: `http://127.0.0.1:${receiver.port}/hook`,
      events: ['session.ended', 'call.ended', 'recording.ready', 'session.finalized'],
    };
    await project.api('PUT', '/agent', { body: { status: 'published', postSessionWebhook } });
    const toNumber = newNumber();
    const { body } = await call(project, { toNumber });
    const hungUp = await nodes.second.api('POST', `${project.path}/calls/${body.callId}/hangup`, {
      key: project.secretKey,
    });
    expect([hungUp.status, hungUp.body]).toMatchObject([
      200,
      { status: 'canceled', endReason: 'api_hangup', durationMs: 0 },
    ]);
    const again = await project.api('POST', `/calls/${body.callId}/hangup`);
    expect([again.status, again.body]).toEqual([200, hungUp.body]);
    expect((await project.api('GET', `/sessions/${body.sessionId}`)).status).toBe(404);
    expect((await call(project, { toNumber })).status).toBe(202);

    const mine = () => received.filter(({ sessionId }) => sessionId === body.sessionId);
    await vi.waitFor(() => expect(mine()).toHaveLength(3));
    const told = { callId: body.callId, status: 'canceled', durationMs: 0, sip: null };
    expect(mine()).toMatchObject([
      { event: 'session.ended', channel: 'phone', call: told },
      { event: 'call.ended', occurredAt: hungUp.body.endedAt, call: told },
      { event: 'session.finalized', call: told, status: 'canceled', endReason: 'api_hangup' },
    ]);
    const history = await project.api('GET', `/session-history/${body.sessionId}`);
    const types = history.body.events.map(({ type }: { type: string }) => type);
    expect(types.slice(0, 3)).toEqual(['session_started', 'call_status', 'session_ended']);
    const stats = (await project.api('GET', '/session-history/stats')).body.calls;
    expect(stats).toMatchObject({ total: 1, answered: 0, answerRate: 0 });
  });

  test('cannot be supervised, and bad bodies of supervisors are refused before that', async () => {
    const project = await makeProject();
    const { callId } = (await call(project)).body;
    const { key } = await nodes.first.createKey(project, { scopes: ['supervise'] });
    const ask = async (what: string, body?: object, id = callId) => {
      const answer = await nodes.second.api('POST', `${project.path}/calls/${id}/${what}`, { key, body });
      return [answer.status, answer.body.code];
    };
    const bodies: [string, object | undefined, ...object[]][] = [
      [
        'supervise',
        { mode: 'whisper', participantId: UNKNOWN_ID },
        { mode: 'shout' },
        {},
        { mode: 'listen', participantId: UNKNOWN_ID },
        { mode: 'whisper', participantId: 'somebody' },
      ],
      [
        'say',
        { text: 'Hello.' },
        { text: '' },
        { text: '  ' },
        { text: 'x'.repeat(2001) },
        { text: 'a\u0007' },
      ],
      ['instruct', { text: 'Be brief.' }, { text: 1 }, { text: 'Be brief.', mode: 'listen' }],
      ['recording', { action: 'pause' }, { action: 'stop' }],
      ['pause-agent', undefined],
      ['resume-agent', undefined],
    ];
    for (const [what, good, ...bad] of bodies) {
      expect([what, await ask(what, good)]).toEqual([what, [409, 'call_not_in_progress']]);
      expect([what, await ask(what, good, UNKNOWN_ID)]).toEqual([what, [404, 'call_not_found']]);
      for (const body of bad) expect([body, await ask(what, body)]).toEqual([body, [400, 'invalid_request']]);
    }
    await project.api('POST', `/calls/${callId}/hangup`);
  });

  test('is explained by its time line, under its own and its session’s id', async () => {
    const project = await makeProject();
    const { body } = await call(project);
    const { status, body: timeline } = await project.api('GET', `/calls/${body.callId}/timeline`);
    expect([status, timeline]).toMatchObject([
      200,
      {
        sessionId: body.sessionId,
        call: { id: body.callId, status: 'queued' },
        messages: [],
        events: [{ type: 'session_started' }],
        mediaSamples: null,
        deliveries: [],
      },
    ]);
    expect((await project.api('GET', `/calls/${body.sessionId}/timeline`)).body).toEqual(timeline);
    for (const id of [UNKNOWN_ID, 'unknown'])
      expect((await project.api('GET', `/calls/${id}/timeline`)).status).toBe(404);
    for (const part of ['peaks', 'audio'])
      expect((await project.api('GET', `/calls/${body.callId}/${part}`)).body.code).toBe(
        'recording_not_found',
      );
  });

  test('is exported with harmless cells, and filtered as in the list', async () => {
    const project = await makeProject();
    const toNumber = newNumber();
    const given = { metadata: { note: '=HYPERLINK("x")' }, dynamicVariables: { guests: 2, list: [1] } };
    const { body } = await call(project, { toNumber, ...given, externalId: 'order-7' });
    await call(project, { externalId: 'other', metadata: { other: 1 } });
    const only = `number=${toNumber.slice(1)}`;
    const listed = await project.api('GET', `/calls?live=true&${only}`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([body.callId]);
    expect((await project.api('GET', '/calls?live=false')).body.data).toEqual([]);
    const counts = ['queued,ringing', 'queued&status=ringing', 'ringing,completed'].map(
      async (status) => (await project.api('GET', `/calls?status=${status}`)).body.pagination.total,
    );
    expect(await Promise.all(counts)).toEqual([2, 2, 0]);
    expect((await project.api('GET', '/calls?status=queued,waiting')).status).toBe(400);
    expect((await project.api('GET', '/calls?from=2030-01-02&to=2030-01-01')).status).toBe(400);
    const { headers, body: text } = await project.api('GET', `/calls/export?${only}`);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [titles, line, ...rest] = text.split('\r\n');
    expect(titles).toMatch(/^id,sessionId,direction,status,/);
    expect(line).toContain(
      `${body.callId},${body.sessionId},outbound,queued,,${project.from},+886${toNumber.slice(1)},order-7,`,
    );
    expect(line).toContain('"{""note"":""=HYPERLINK(\\""x\\"")""}"');
    expect(titles).toMatch(/,metadata,metadata\.note,variables\.guests,variables\.list$/);
    expect(line).toMatch(/,"'=HYPERLINK\(""x""\)",2,\[1\]$/);
    for (const filter of ['externalId=order-7', 'metadata.note=%3DHYPERLINK(%22x%22)']) {
      const found = await project.api('GET', `/calls?${filter}`);
      expect(found.body.data).toMatchObject([{ id: body.callId, externalId: 'order-7' }]);
      expect((await project.api('GET', `/calls/export?${filter}`)).body.split('\r\n')[1]).toBe(line);
    }
    for (const filter of ['metadata.a=1&metadata.a=2', 'externalId='])
      expect((await project.api('GET', `/calls?${filter}`)).status).toBe(400);
    expect(rest).toEqual(['']);
  });
});

describe('A scheduled call', () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

  test('leaves its number free until it is due, is listed by its status, and is canceled by its hangup', async () => {
    const project = await makeProject();
    const [toNumber, notBefore] = [newNumber(), inMs(3_600_000)];
    const { status, body } = await call(project, { toNumber, notBefore });
    expect([status, body.success]).toEqual([202, true]);
    expect((await call(project, { toNumber, notBefore })).status).toBe(202);
    expect((await call(project, { toNumber })).status).toBe(202);
    const listed = await project.api('GET', '/calls?status=scheduled');
    expect(listed.body.data).toHaveLength(2);
    expect(listed.body.data[1]).toMatchObject({ id: body.callId, status: 'scheduled', notBefore });
    const hungUp = await project.api('POST', `/calls/${body.callId}/hangup`);
    expect(hungUp.body).toMatchObject({ status: 'canceled', endReason: 'api_hangup' });
    expect((await project.api('GET', '/calls?status=scheduled')).body.pagination.total).toBe(1);
    expect((await project.api('GET', `/sessions/${body.sessionId}`)).status).toBe(404);
  });

  test.each([
    ['no time', 'tomorrow', 'invalid_request'],
    ['a time without a zone', '2026-12-01T12:00:00', 'invalid_request'],
    ['a time too far ahead', inMs(31 * 86_400_000), 'not_before_too_late'],
  ])('is rejected with %s', async (_what, notBefore, code) => {
    const answer = await call(await makeProject(), { notBefore });
    expect([answer.status, answer.body.code, answer.body.details?.[0].path]).toEqual([
      400,
      code,
      '/notBefore',
    ]);
  });

  test('is placed on the release that is live when it is due', async () => {
    const project = await makeProject();
    const publish = async () => expect((await project.api('POST', '/agent/publish')).status).toBe(200);
    const read = async () => (await project.api('GET', `/calls/${body.callId}`)).body;
    await publish();
    const { body } = await call(project, { notBefore: inMs(2_000), dynamicVariables: { name: 'Ada' } });
    expect((await read()).release).toBe(1);
    await publish();
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).not.toBe('scheduled');
    expect((await read()).release).toBe(2);
    const { body: session } = await project.api('GET', `/session-history/${body.sessionId}`);
    expect([session.release, session.variables?.name]).toEqual([2, 'Ada']);
  });

  test('is refused over the quota of scheduled calls', async () => {
    const project = await makeProject();
    await nodes.first.api('PATCH', project.path, { body: { quotas: { scheduledCalls: 1 } } });
    const notBefore = inMs(60_000);
    expect((await call(project, { notBefore })).status).toBe(202);
    const refused = await call(project, { notBefore });
    expect([refused.status, refused.body]).toMatchObject([
      429,
      { code: 'quota_exceeded', quota: 'scheduledCalls' },
    ]);
    expect((await call(project)).status).toBe(202);
  });
});

describe('The limits of a project', () => {
  const limited = async (callLimits: object) => {
    const project = await makeProject();
    const answer = await nodes.first.api('PATCH', project.path, { body: { callLimits } });
    expect(answer.status).toBe(200);
    return project;
  };

  test('restrict the destinations on both paths, also for a call with a bot', async () => {
    const project = await limited({ allowedPrefixes: ['+886'], blockedPrefixes: ['+88691'] });
    const media = { url: 'wss://bot.example.com/', dialect: 'twilio' };
    for (const more of [
      { toNumber: '+14155550123' },
      { toNumber: '0912345678' },
      { toNumber: '0912345678', media },
    ]) {
      const refused = await call(project, more);
      expect([refused.status, refused.body.code]).toEqual([422, 'destination_not_allowed']);
    }
    const legacy = await nodes.first.api('POST', `/project/${project.id}/integration/phone/call/outbound`, {
      key: project.secretKey,
      body: { fromNumber: project.from, toNumber: '+14155550123' },
    });
    expect([legacy.status, legacy.body.code]).toEqual([422, 'destination_not_allowed']);
    expect((await call(project, { toNumber: '0223456788' })).status).toBe(202);
    expect((await project.api('GET', '/calls')).body.pagination.total).toBe(1);
  });
});

describe('Trunks and numbers', () => {
  test('show no password and initially unknown health; changes are in the audit log', async () => {
    const project = await makeProject();
    const body = {
      name: 'Secret',
      host: '2001:db8::1',
      username: 'u',
      password: 'the password',
      register: true,
    };
    const created = await project.api('POST', '/trunks', { body });
    expect(created.status).toBe(201);
    const path = `/trunks/${created.body.id}`;
    const list = await project.api('GET', '/trunks');
    const one = await project.api('GET', path);
    expect(list.body.data.at(-1)).toEqual(one.body);
    expect(one.body).toMatchObject({
      hasPassword: true,
      codecs: ['PCMU', 'PCMA'],
      health: { reachable: null, registered: null, lastOptionsMs: null, channelsInUse: 0, error: null },
    });
    expect(JSON.stringify([created.body, list.body, one.body])).not.toContain('the password');
    const without = await project.api('PATCH', path, { body: { password: null, register: false } });
    expect(without.body.hasPassword).toBe(false);
    const wrong = await project.api('PATCH', path, { body: { username: null, register: true } });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_trunk']);
    expect((await project.api('GET', path)).body.username).toBe('u');
    const used = await project.api('DELETE', `/trunks/${project.trunkId}`);
    expect([used.status, used.body.code]).toEqual([409, 'trunk_in_use']);
    expect((await project.api('DELETE', path)).status).toBe(204);
    expect((await project.api('GET', path)).status).toBe(404);
    const log = await nodes.first.api('GET', `${project.path}/audit-log`);
    const actions = log.body.data.map(({ action }: { action: string }) => action);
    expect(actions.slice(0, 5)).toEqual([
      'trunk.deleted',
      'trunk.updated',
      'trunk.created',
      'phone_number.created',
      'trunk.created',
    ]);
    expect(JSON.stringify(log.body)).not.toContain('the password');
  });

  test('keep the credentials of a bot sealed, and show none of them', async () => {
    const project = await makeProject();
    const bot = { url: 'wss://bot.example.com/', dialect: 'vonage', username: 'u' };
    const secrets = { password: 'bot password', headers: [{ key: 'X-Token', value: 'bot token' }] };
    const path = `/phone-numbers/${project.numberId}`;
    const changed = await project.api('PATCH', path, { body: { media: { ...bot, ...secrets } } });
    expect([changed.status, changed.body.media]).toEqual([200, bot]);
    const placed = await call(project, { toNumber: '0223456701', media: { ...bot, ...secrets } });
    const shown = await project.api('GET', `/calls/${placed.body.callId}`);
    expect(shown.body.media).toEqual(bot);
    const log = await nodes.first.api('GET', `${project.path}/audit-log`);
    expect(JSON.stringify([changed.body, shown.body, log.body])).not.toMatch(/bot (password|token)|sealed/);
    for (const media of [
      { ...bot, dialect: 'telnyx' },
      { ...bot, password: 'p', headers: [{ key: 'authorization', value: 'x' }] },
      { ...bot, ...secrets, headers: [{ key: 'Host', value: 'x' }] },
      { ...bot, ...secrets, secret: 1 },
    ]) {
      expect([media, (await project.api('PATCH', path, { body: { media } })).status]).toEqual([media, 400]);
    }
  });

  test('are validated before they are stored', async () => {
    const project = await makeProject();
    const trunk = { name: 't', host: 'h', register: true };
    expect((await project.api('POST', '/trunks', { body: trunk })).status).toBe(400);
    const number = (body: object) => project.api('POST', '/phone-numbers', { body });
    expect((await number({ number: project.from })).body.code).toBe('phone_number_exists');
    expect((await number({ number: 'call me' })).body.code).toBe('invalid_number');
    expect((await number({ number: '+886912345678', trunkIds: [UNKNOWN_ID] })).body.code).toBe(
      'unknown_trunk',
    );
    const media = { url: 'https://example.com/', dialect: 'callway' };
    expect((await number({ number: '+886912345678', media })).body.code).toBe('invalid_target');
    const nowhere = { number: '+886912345678', startNodeId: 'nowhere' };
    expect((await number(nowhere)).body.code).toBe('unknown_node');
    const renamed = await project.api('PATCH', `/phone-numbers/${project.numberId}`, {
      body: { number: '0912345678' },
    });
    expect(renamed.body.number).toBe('+886912345678');
    expect((await project.api('GET', '/phone-numbers')).body.data).toEqual([renamed.body]);
    expect((await project.api('DELETE', `/phone-numbers/${project.numberId}`)).status).toBe(204);
    expect((await project.api('GET', `/phone-numbers/${project.numberId}`)).status).toBe(404);
  });
});
