import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { makeApiKey } from '../../../src/agents/accounts/apiKey.ts';
import type { Operation } from '../../support/apiContract.ts';
import { sharedGateway, type TestProject } from '../../support/gateway.ts';

const gateway = sharedGateway({ env: { RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0' } });
const UNKNOWN_ID = '0197a000-0000-7000-8000-000000000000';
/** For two thousand requests on a busy machine. */
const ALL_ROUTES_TIMEOUT_MS = 300_000;
type Verdict = 'in' | 401 | 403;
type Holder = 'admin' | 'secret' | 'reader' | 'writer' | 'caller' | 'keeper';

/** Expected access of each kind of credential; `keeper` has only keys:write. */
const WELCOME: Record<string, Partial<Record<Holder, Verdict>>> = {
  admin: { admin: 'in', secret: 401, reader: 401, writer: 401, caller: 401, keeper: 401 },
  manage: { admin: 'in', secret: 403, reader: 403, writer: 403, caller: 403, keeper: 'in' },
  see: { admin: 'in', secret: 'in', reader: 'in', writer: 403, caller: 403, keeper: 403 },
  read: { admin: 401, secret: 'in', reader: 'in', writer: 403, caller: 403, keeper: 403 },
  operate: { admin: 'in', secret: 'in', reader: 403, writer: 'in', caller: 403, keeper: 403 },
  legacy: { admin: 401, secret: 'in', reader: 401, writer: 401, caller: 401, keeper: 401 },
  write: { admin: 401, secret: 'in', reader: 403, writer: 'in', caller: 403, keeper: 403 },
  calls: { admin: 401, secret: 'in', reader: 403, writer: 403, caller: 'in', keeper: 403 },
  supervise: { admin: 401, secret: 403, reader: 403, writer: 403, caller: 403, keeper: 403 },
};
const PUBLIC = [
  ...['/healthz', '/readyz', '/metrics', '/openapi.json', '/console/session'],
  ...['/widget.js', '/widget/processor.js'],
  // The credential of these routes is in the URL.
  ...['/v1/recordings/{token}', '/v1/media-streams', '/v1/media-streams/{ticket}', '/v1/realtime'],
];
const PROJECT = '/v1/projects/{projectId}';
/** The key in `x-api-key` determines the project. */
const namesNoProject = (path: string) => path.startsWith('/knowledgebases');
/** The body names the project. */
const OUTBOUND = '/v1/calls/outbound';

/** The access of routes by method and path, with `@` for the project's; the first that matches. */
const ACCESS: readonly (readonly [route: RegExp, access: string])[] = [
  [
    / \/v1\/(?:numbers|do-not-call|contact-imports|rates)| \/v1\/(?:projects|settings|nodes|sip-rejections)$/,
    'admin',
  ],
  [/^GET @(?:\/legacy-usage|\/usage)?$/, 'see'],
  // A key may change the calling hours alone.
  [/^PATCH @$/, 'operate'],
  [/ @$/, 'admin'],
  [/^GET @\/(?:trunks|phone-numbers|widget-tokens|do-not-call|rates)\b/, 'see'],
  [/ @\/(?:trunks|phone-numbers|widget-tokens|do-not-call|rates)\b/, 'operate'],
  [/ @\/(?:api-keys|audit-log|providers|webhook-secret)/, 'manage'],
  [/ \/(?:project\/|knowledgebases)/, 'legacy'],
  [/\/sessions\/search$/, 'read'],
  [/^(?!GET )\w+ @\/campaigns/, 'calls'],
  [/ \/v1\/calls\/outbound$|\/(?:hangup|transfer|media-streams|realtime|client_secrets)$/, 'calls'],
  [/^(?!GET )\w+ @\/calls\/\{callId\}\/|\/participants$/, 'supervise'],
  [/^GET |\/(?:validate|templates\/preview)$/, 'read'],
];

function accessOf(method: string, path: string): string {
  if (PUBLIC.includes(path)) return 'public';
  const route = `${method} ${path.replace(PROJECT, '@')}`;
  return ACCESS.find(([pattern]) => pattern.test(route))?.[1] ?? 'write';
}

let own: TestProject;
let other: TestProject;
let keys: Record<Holder, string>;
beforeAll(async () => {
  [own, other] = [await gateway().createProject(), await gateway().createProject()];
  const scoped = async (scope: string) => (await gateway().createKey(own, { scopes: [scope] })).key;
  keys = {
    admin: gateway().adminToken,
    secret: own.secretKey,
    reader: await scoped('read'),
    writer: await scoped('write'),
    caller: await scoped('calls'),
    keeper: await scoped('keys:write'),
  };
});

/** A stream of events would not end. */
const fill = (path: string, projectId: string) =>
  path.replace('{projectId}', projectId).replace(/\{\w+\}/g, 'no-such-thing') +
  (path.endsWith('/events') ? '?type=none' : '');
const guarded = () =>
  gateway().contract.operations.filter(({ method, path }) => accessOf(method, path) !== 'public');
const ask = (
  method: string,
  url: string,
  key: string | null,
  headers: Record<string, string> = {},
  projectId = own.id,
) =>
  gateway().api(method, url, {
    key: namesNoProject(url) ? null : key,
    headers: namesNoProject(url) && key !== null ? { 'x-api-key': key, ...headers } : headers,
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: url === OUTBOUND ? { projectId } : {} }),
  });

describe('Every route', () => {
  test('documents whether it needs a credential', () => {
    for (const { method, path, definition } of gateway().contract.operations) {
      const isOpen = !('security' in definition);
      expect([method, path, isOpen]).toEqual([method, path, PUBLIC.includes(path)]);
    }
  });

  test(
    'refuses all invalid credentials with the same response',
    async () => {
      type Outsider = [string, string | null, Record<string, string>];
      const outsiders = (path: string): Outsider[] => [
        ['no credential', null, {}],
        ['rubbish', 'rubbish', {}],
        ['an unknown key', makeApiKey('secret').key, {}],
        ['a key cut short', own.secretKey.slice(0, -1), {}],
        ['another scheme', null, { authorization: `Basic ${own.secretKey}` }],
        ['another project’s developer key', other.developerKey, {}],
        ...(namesNoProject(path) ? strangersToOwnHeader : strangersToBearer),
      ];
      const strangersToOwnHeader: Outsider[] = [
        ['another header', null, { authorization: `Bearer ${own.secretKey}` }],
        ['two credentials', `${own.secretKey} ${own.secretKey}`, {}],
      ];
      const strangersToBearer: Outsider[] = [
        ['another header', null, { 'x-api-key': own.secretKey }],
        ['two credentials', null, { authorization: `Bearer ${own.secretKey} ${own.secretKey}` }],
        ['another project’s secret key', other.secretKey, {}],
      ];
      // Each route refuses who has no credential, and one other by turns: all routes share the check.
      const judge = async ({ method, path }: Operation, index: number) => {
        const [nobody, ...others] = outsiders(path);
        for (const outsider of [nobody, others[index % others.length]]) {
          if (!outsider) continue;
          const [who, key, headers] = outsider;
          const answer = await ask(method, fill(path, own.id), key, headers);
          expect([who, method, path, answer.status]).toEqual([who, method, path, 401]);
          expect(answer.headers.get('www-authenticate')).toContain('Bearer');
          expect(answer.body.error.code).toBe(key === null ? 'missing_credential' : 'invalid_credential');
          const nowhere = await ask(method, fill(path, UNKNOWN_ID), key, headers, UNKNOWN_ID);
          expect([nowhere.status, nowhere.body]).toEqual([401, answer.body]);
        }
      };
      await Promise.all(guarded().map(judge));
    },
    ALL_ROUTES_TIMEOUT_MS,
  );

  test.each(['admin', 'secret', 'reader', 'writer', 'caller', 'keeper'] as const)(
    'accepts %s only by its scopes',
    async (holder) => {
      for (const { method, path } of guarded()) {
        if (method === 'DELETE' && path === PROJECT && holder === 'admin') continue;
        const answer = await ask(method, fill(path, own.id), keys[holder]);
        const verdict = answer.status === 401 || answer.status === 403 ? answer.status : 'in';
        const expected = WELCOME[accessOf(method, path)]?.[holder];
        expect([method, path, verdict]).toEqual([method, path, expected]);
        // Under OpenAI's prefix the error is an object.
        if (verdict === 403) expect(answer.body.code ?? answer.body.error.code).toBe('missing_scope');
      }
    },
  );
});

describe('A resource of another project', () => {
  test('is 404 below the key’s own project', async () => {
    const http = { method: 'GET', url: 'https://example.com/' };
    const { key, id: keyId } = await gateway().createKey(other, { scopes: ['read', 'write', 'keys:write'] });
    const create = async (list: string, body: object) => {
      const answer = await gateway().api('POST', `${other.path}/${list}`, { key, body });
      expect(answer.status).toBe(201);
      return `/${list}/${answer.body.id ?? answer.body.data.id}`;
    };
    const places = [
      await create('tools', { name: 'theirs', http }),
      await create('test-cases', { name: 'theirs' }),
      await create('test-suites', { name: 'theirs' }),
      await create('trunks', { name: 'theirs', host: 'sip.example.com' }),
      await create('phone-numbers', { number: '+886223456789' }),
      await create('pathway/nodes', { id: 'theirs', type: 'say', data: { title: 'x' } }),
      await create('pathway/edges', { id: 'theirs-too', source: 'start', target: 'theirs' }),
    ];
    const all = (await gateway().createKey(own, { scopes: ['read', 'write', 'keys:write'] })).key;
    for (const place of places) {
      const before = (await gateway().api('GET', other.path + place, { key })).body;
      const methods = /^\/(pathway|trunks|phone-numbers)/.test(place)
        ? ['GET', 'PATCH', 'DELETE']
        : ['GET', 'PUT', 'PATCH', 'DELETE'];
      for (const method of methods) {
        const answer = await ask(method, own.path + place, all);
        expect([place, method, answer.status]).toEqual([place, method, 404]);
      }
      expect((await gateway().api('GET', other.path + place, { key })).body).toEqual(before);
    }
    expect((await ask('DELETE', `${own.path}/api-keys/${keyId}`, all)).status).toBe(404);
    expect((await gateway().api('GET', `${other.path}/tools`, { key })).status).toBe(200);
  });
});

describe('A console session', () => {
  const signIn = async (token: string) => {
    const answer = await gateway().api('POST', '/console/session', { key: null, body: { token } });
    const cookie = answer.headers.get('set-cookie') ?? '';
    return { status: answer.status, cookie, headers: { cookie: cookie.split(';')[0] ?? '' } };
  };
  const call = (method: string, url: string, headers: Record<string, string>, body?: object) =>
    gateway().api(method, url, { key: null, headers, ...(body ? { body } : {}) });
  const CONSOLE = { 'x-callway-console': '1' };

  test('has the rights of its key, and changes something only with the console’s header', async () => {
    const { status, cookie, headers } = await signIn(keys.writer);
    expect([status, cookie]).toEqual([
      204,
      expect.stringMatching(/^callway_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect((await call('GET', '/console/session', headers)).body).toEqual({
      kind: 'project',
      projectId: own.id,
      scopes: ['write'],
    });
    const tool = { name: 'from_console', http: { method: 'GET', url: 'https://example.com/' } };
    const refused = await call('POST', `${own.path}/tools`, headers, tool);
    expect([refused.status, refused.body.code]).toEqual([403, 'console_header_required']);
    expect((await call('POST', `${own.path}/tools`, { ...headers, ...CONSOLE }, tool)).status).toBe(201);
    expect((await call('GET', `${own.path}/tools`, headers)).body.code).toBe('missing_scope');
    expect((await call('GET', `${other.path}/tools`, headers)).status).toBe(401);
  });

  test('opens no WebSocket, since pages of any origin may ask for one', async () => {
    const { headers } = await signIn(own.developerKey);
    const url = `${gateway().url.replace('http', 'ws')}${own.path}/realtime`;
    const open = async (more: Record<string, string>) => {
      const socket = new WebSocket(url, 'realtime', { headers: { ...headers, ...more } });
      const [, response] = await once(socket, 'unexpected-response');
      response.destroy();
      return response.statusCode;
    };
    expect(await open({ origin: 'https://other.example' })).toBe(403);
    // Admitted; this node has no voice.
    expect(await open(CONSOLE)).toBe(503);
  });

  test('of the operator works in every project', async () => {
    const { headers } = await signIn(gateway().adminToken);
    expect((await call('GET', '/console/session', headers)).body).toMatchObject({ kind: 'operator' });
    for (const { path } of [own, other])
      expect((await call('GET', `${path}/agent`, headers)).status).toBe(200);
    expect((await call('GET', `/v1/projects/${UNKNOWN_ID}/agent`, headers)).status).toBe(404);
    expect((await call('GET', '/v1/projects', headers)).status).toBe(200);
    const changed = await call('PATCH', `${own.path}/agent`, { ...headers, ...CONSOLE }, { name: 'Mia' });
    expect([changed.status, changed.body.name]).toEqual([200, 'Mia']);
    const noProject = await call('GET', '/knowledgebases', headers);
    expect([noProject.status, noProject.body.code]).toEqual([400, 'project_required']);
    const named = await call('GET', '/knowledgebases', { ...headers, 'x-callway-project': own.id });
    expect(named.status).toBe(200);
  });

  test('ends when it is signed out of, and when its key is revoked', async () => {
    const { key, id } = await gateway().createKey(own, { scopes: ['read'] });
    const [first, second] = [await signIn(key), await signIn(key)];
    expect((await call('DELETE', '/console/session', first.headers)).status).toBe(403);
    const ended = await call('DELETE', '/console/session', { ...first.headers, ...CONSOLE });
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([204, expect.stringMatching(/=;/)]);
    expect((await call('GET', `${own.path}/tools`, first.headers)).status).toBe(401);
    expect((await call('GET', '/console/session', first.headers)).body).toEqual({ kind: 'none' });
    expect((await call('GET', `${own.path}/tools`, second.headers)).status).toBe(200);
    const keyUrl = `${own.path}/api-keys/${id}`;
    expect((await gateway().api('DELETE', keyUrl, { key: gateway().adminToken })).status).toBe(204);
    expect((await call('GET', `${own.path}/tools`, second.headers)).status).toBe(401);
    expect((await call('GET', '/console/session', second.headers)).body).toEqual({ kind: 'none' });
  });

  test('can be begun sixty times a minute with a project’s keys', async () => {
    const project = await gateway().createProject();
    // More than two minutes allow.
    const signedIn = await Promise.all(Array.from({ length: 121 }, () => signIn(project.developerKey)));
    const statuses = signedIn.map(({ status }) => status);
    expect([...new Set(statuses)].sort()).toEqual([204, 429]);
    expect((await signIn(keys.writer)).status).toBe(204);
    expect((await signIn(gateway().adminToken)).status).toBe(204);
  });

  test('is refused with an unknown token, and with a bad body', async () => {
    expect((await signIn('rubbish')).status).toBe(401);
    expect((await signIn(makeApiKey('secret').key)).status).toBe(401);
    const bad = await gateway().api('POST', '/console/session', { key: null, body: { tokens: 'x' } });
    expect(bad.status).toBe(400);
    const unknown = { cookie: `callway_session=${'A'.repeat(43)}` };
    expect((await call('GET', `${own.path}/tools`, unknown)).status).toBe(401);
    expect((await call('GET', '/console/session', unknown)).body).toEqual({ kind: 'none' });
  });
});
