import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { Phone } from '../sip/support/phone.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';
import { reservePort } from '../support/ports.ts';

const SIP_PORT = await reservePort();
const gateway = sharedGateway({
  env: { ROLES: 'api,worker,voice,media', SIP_PORT: String(SIP_PORT), MEDIA_WORKERS: '1' },
});
const FROM = '+886223456789';
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
/** Days that are over the whole world not today. */
const NOT_TODAY = [2, 3, 4, 5].map((ahead) => DAYS[(new Date().getUTCDay() + ahead) % DAYS.length]);
const CLOSED = [{ days: NOT_TODAY, from: '08:00', to: '21:00' }];
let carrier: Phone;
let project: TestProject;

beforeAll(async () => {
  carrier = await Phone.open();
  project = await gateway().createProject();
  const trunk = {
    name: 'C',
    host: '127.0.0.1',
    port: carrier.port,
    optionsIntervalSeconds: 0,
    maxChannels: 1,
  };
  await api('POST', '/trunks', trunk);
  await api('POST', '/phone-numbers', { number: FROM });
});
afterAll(() => carrier.close());

const api = (method: string, path: string, body?: object) =>
  gateway().api(method, project.path + path, { key: project.developerKey, ...(body ? { body } : {}) });
const call = (toNumber: string, more: object = {}) =>
  gateway().api('POST', '/v1/calls/outbound', {
    key: project.developerKey,
    body: { projectId: project.id, fromNumber: FROM, toNumber, ...more },
  });
const untilEnded = (callId: string) =>
  vi.waitFor(
    async () => {
      const { body } = await api('GET', `/calls/${callId}`);
      expect(['completed', 'failed', 'canceled', 'busy', 'no_answer']).toContain(body.status);
      return body;
    },
    { timeout: 15_000, interval: 100 },
  );
const invitesTo = (number: string) =>
  carrier.received.filter((text) => text.startsWith(`INVITE sip:${number}`));

describe('A number on a do-not-call list', () => {
  const [listed, local] = ['+886912000010', '0912000010'];

  test('is added, found, listed and removed by keys of the project', async () => {
    const numbers = [listed, local, '+886912000011'];
    const added = await api('POST', '/do-not-call', { numbers, reason: 'asked by letter' });
    expect([added.status, added.body]).toEqual([201, { added: 2, known: 1 }]);
    const found = await api('GET', `/do-not-call/${encodeURIComponent(listed)}`);
    const entry = { number: listed, source: 'api', reason: 'asked by letter', at: expect.any(String) };
    expect(found.body).toEqual(entry);
    const page = await api('GET', '/do-not-call?limit=1');
    expect(page.body).toMatchObject({ pagination: { total: 2, nextCursor: expect.any(String) } });
    expect((await api('DELETE', '/do-not-call/+886912000011')).status).toBe(204);
    const gone = await api('GET', '/do-not-call/+886912000011');
    expect([gone.status, gone.body.code]).toEqual([404, 'do_not_call_entry_not_found']);
    expect((await api('DELETE', '/do-not-call/+886912000011')).status).toBe(404);
    const log = (await gateway().api('GET', `${project.path}/audit-log`)).body.data;
    expect(log.slice(0, 2)).toMatchObject([
      { action: 'do_not_call.removed' },
      { action: 'do_not_call.added', details: { added: 2, known: 1 } },
    ]);
    expect(JSON.stringify(log)).not.toContain('912000011');
  });

  test.each([
    '886912000010',
    '%20886912000010',
    '+886-912-000-010',
    '+886%20912%20000%20010',
    '00886912000010',
    local,
  ])('is found in a path as %s', async (written) => {
    expect((await api('GET', `/do-not-call/${written}`)).body.number).toBe(listed);
  });

  test('is refused where it is none, and then nothing is added', async () => {
    const { status, body } = await api('POST', '/do-not-call', { numbers: ['+886912000012', '12'] });
    expect([status, body.code, body.details[0].path]).toEqual([400, 'invalid_number', '/numbers/1']);
    expect((await api('GET', '/do-not-call/+886912000012')).status).toBe(404);
    expect((await api('POST', '/do-not-call', { numbers: [] })).status).toBe(400);
  });

  test.each([
    ['read', [200, 403]],
    ['write', [403, 201]],
  ])('is seen and changed by the scopes of a key: %s', async (scope, expected) => {
    const { key } = await gateway().createKey(project, { kind: 'developer', scopes: [scope] });
    const path = `${project.path}/do-not-call`;
    const add = gateway().api('POST', path, { key, body: { numbers: [listed] } });
    expect([(await gateway().api('GET', path, { key })).status, (await add).status]).toEqual(expected);
    expect((await gateway().api('GET', '/v1/do-not-call', { key })).status).toBe(401);
  });

  test.each([listed, local])('is not called as %s', async (number) => {
    const { status, body } = await call(number);
    expect([status, body.code]).toEqual([422, 'do_not_call']);
    const later = await call(number, { notBefore: new Date(Date.now() + 60_000).toISOString() });
    expect([later.status, later.body.code]).toEqual([422, 'do_not_call']);
  });

  test('is not called when it is listed while its call waits, by the installation too', async () => {
    const first = await call('+886912000020');
    const invite = await carrier.next(/^INVITE sip:\+886912000020/);
    const waiting = [await call('+886912000021'), await call('+886912000022')];
    const notBefore = new Date(Date.now() + 1_500).toISOString();
    const scheduled = await call('+886912000023', { notBefore });
    await api('POST', '/do-not-call', { numbers: ['+886912000021', '+886912000023'] });
    const body = { numbers: ['+886912000022'] };
    expect((await gateway().api('POST', '/v1/do-not-call', { body })).body).toEqual({ added: 1, known: 0 });
    carrier.send(carrier.answer(invite, '486 Busy Here'), SIP_PORT);
    await untilEnded(first.body.callId);
    for (const { body: ordered } of [...waiting, scheduled]) {
      expect(await untilEnded(ordered.callId)).toMatchObject({
        status: 'canceled',
        endReason: 'do_not_call',
      });
    }
    expect(['+886912000021', '+886912000022', '+886912000023'].flatMap(invitesTo)).toEqual([]);
    expect((await gateway().api('GET', '/v1/do-not-call/+886912000022')).body.number).toBe('+886912000022');
    expect((await gateway().api('DELETE', '/v1/do-not-call/+886912000022')).status).toBe(204);
  });
});

describe('Calling hours', () => {
  const NUMBER = '+886912000030';

  test('are set by a key with the scope write, and are those of a new project until then', async () => {
    const daytime = { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '08:00', to: '21:00' };
    const ofNew = { timezone: 'callee', windows: [daytime], appliesTo: ['campaign', 'callback'] };
    expect((await api('GET', '')).body.callingHours).toEqual(ofNew);
    const callingHours = {
      timezone: 'Asia/Taipei',
      windows: CLOSED,
      exceptDates: ['2026-12-25'],
      appliesTo: ['api'],
    };
    const changed = await api('PATCH', '', { callingHours });
    expect([changed.status, changed.body.callingHours]).toEqual([200, callingHours]);
    expect((await api('PATCH', '', { callingHours, name: 'Mine' })).status).toBe(401);
    expect((await api('PATCH', '', { callingHours: null })).body.callingHours).toBeNull();
    const { body: created } = await gateway().api('POST', '/v1/projects', {
      body: { name: 'Any', callingHours: null },
    });
    expect(created.callingHours).toBeNull();
  });

  test.each([
    ['a window that ends before it begins', [{ days: ['mon'], from: '21:00', to: '08:00' }]],
    ['an hour that no day has', [{ days: ['mon'], from: '21:00', to: '24:30' }]],
    ['an unknown day', [{ days: ['monday'], from: '08:00', to: '21:00' }]],
    ['no window', []],
  ])('are refused with %s', async (_what, windows) => {
    const { status, body } = await api('PATCH', '', { callingHours: { windows } });
    expect([status, body.details[0].path]).toEqual([400, expect.stringMatching(/^\/callingHours\/windows/)]);
  });

  test('refuse an order, judge a later one by its due time, and end it where they have changed by then', async () => {
    await api('PATCH', '', { callingHours: { windows: CLOSED, appliesTo: ['api'] } });
    const { status, body } = await call(NUMBER);
    expect([status, body.code]).toEqual([422, 'outside_calling_hours']);
    const { nextAllowedAt } = body;
    expect(Date.parse(nextAllowedAt)).toBeGreaterThan(Date.now());
    const ordered = await call(NUMBER, { notBefore: nextAllowedAt });
    expect(ordered.status).toBe(202);
    expect((await api('POST', `/calls/${ordered.body.callId}/hangup`)).status).toBe(200);
    await api('PATCH', '', { callingHours: null });
    const soon = await call(NUMBER, { notBefore: new Date(Date.now() + 1_500).toISOString() });
    await api('PATCH', '', { callingHours: { windows: CLOSED, appliesTo: ['api'] } });
    const ended = await untilEnded(soon.body.callId);
    expect(ended).toMatchObject({ status: 'canceled', endReason: 'outside_calling_hours' });
    expect(invitesTo(NUMBER)).toEqual([]);
  });

  test('that open let a running campaign call at once', async () => {
    await api('PATCH', '', { callingHours: { windows: CLOSED } });
    const { body: campaign } = await api('POST', '/campaigns', { name: 'c', fromNumbers: [FROM] });
    const path = `/campaigns/${campaign.id}`;
    await api('POST', `${path}/contacts`, { contacts: [{ toNumber: NUMBER }] });
    expect((await api('POST', `${path}/start`)).status).toBe(200);
    // The step has found that no hour is open.
    await setTimeout(1_500);
    await api('PATCH', '', { callingHours: null });
    await expect.poll(() => invitesTo(NUMBER).length, { timeout: 10_000 }).toBeGreaterThan(0);
  });
});
