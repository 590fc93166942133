import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { DEVELOPER_KEY, PROJECT_ID, startTestServer, type TestServer } from '../../../support/httpServer.ts';
import { detectLeaks } from '../../../support/leaks.ts';

const V1 = `/v1/projects/${PROJECT_ID}/sessions`;
const LEGACY = `/project/${PROJECT_ID}/session`;
const AT = '2026-01-01T00:00:00.000Z';

let assertNoLeaks: () => Promise<void>;
let server: TestServer;
const searched: unknown[] = [];
const hungUp: unknown[] = [];
// Of all tests, since a start costs more than a test.
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  server = await startTestServer({
    sessions: {
      async search(...wanted) {
        searched.push(wanted);
        return {
          items: [{ sessionId: 's', data: { variables: {} }, createdAt: AT, updatedAt: AT }],
          total: 7,
          nextCursor: 'next',
        };
      },
    },
    hangUpAndWait: async (...call) => void hungUp.push(call),
  });
});
afterAll(async () => {
  await server.close();
  await assertNoLeaks();
});
beforeEach(() => {
  server.conversations.forget();
  for (const list of [searched, hungUp]) list.length = 0;
});

describe.each([
  ['legacy', LEGACY],
  ['v1', V1],
])('Session routes on the %s path', (family, path) => {
  test('create, read and end a session', async () => {
    const created = await server.send('POST', path, {
      body: { session_id: 's/1 ü', variables: { guests: 2 }, provider: 'line', unknown: true },
    });
    expect([created.status, created.body]).toEqual([200, { sessionId: 's/1 ü', pathwayId: 'pathway-1' }]);
    expect(server.conversations.created).toEqual([
      {
        projectId: PROJECT_ID,
        sessionId: 's/1 ü',
        channel: 'chat',
        variables: { guests: 2 },
        provider: 'line',
        draft: false,
      },
    ]);
    const read = await server.send('GET', `${path}/${encodeURIComponent('s/1 ü')}`);
    expect([read.status, read.body]).toEqual([
      200,
      {
        sessionId: 's/1 ü',
        state: {
          variables: { guests: 2 },
          messages: [],
          pathwayId: 'pathway-1',
          release: 'draft',
          currentNodeId: null,
          channel: 'chat',
          provider: 'line',
          status: 'active',
          startedAt: AT,
          lastActivityAt: AT,
        },
      },
    ]);
    const end = () => server.send('DELETE', path, { body: { session_id: 's/1 ü' } });
    expect((await end()).body).toEqual({ success: true, sessionId: 's/1 ü', message: 'Session ended' });
    expect(server.conversations.ended).toEqual([{ sessionId: 's/1 ü', reason: 'api_end' }]);
    const again = await end();
    expect([again.status, again.body.success]).toEqual([200, true]);
    const gone = await server.send('GET', `${path}/${encodeURIComponent('s/1 ü')}`);
    expect([gone.status, gone.body.code]).toEqual([404, 'session_not_found']);
    expect(gone.headers.has('deprecation')).toBe(family === 'legacy');
  });

  test('refuse the id of a live session', async () => {
    const body = { session_id: 's' };
    await server.send('POST', path, { body });
    const second = await server.send('POST', path, { body });
    expect([second.status, second.body.code]).toEqual([400, 'session_id_in_use']);
  });

  test('search sessions', async () => {
    const url = `${path}/search`;
    const { status, body } = await server.send('POST', url, { body: { search_string: 'Ada' } });
    expect([status, body]).toEqual([
      200,
      {
        results: [{ sessionId: 's', data: { variables: {} }, createdAt: AT, updatedAt: AT }],
        pagination: { limit: 50, offset: 0, total: 7, nextCursor: 'next' },
      },
    ]);
    await server.send('POST', url, { body: { search_string: 'Ada', limit: 2, offset: 4 } });
    expect(searched).toEqual([
      [PROJECT_ID, 'Ada', { limit: 50, offset: 0 }],
      [PROJECT_ID, 'Ada', { limit: 2, offset: 4 }],
    ]);
  });

  test.each([
    ['POST', '', {}],
    ['POST', '', { session_id: '' }],
    ['POST', '', { session_id: 1 }],
    ['POST', '', { session_id: 'a'.repeat(256) }],
    ['POST', '', { session_id: 's', variables: [] }],
    ['POST', '', undefined],
    ['DELETE', '', {}],
    ['DELETE', '', undefined],
    ['GET', '/', undefined],
    ['POST', '/search', {}],
    ['POST', '/search', { search_string: '' }],
    ['POST', '/search', { search_string: 7 }],
    ['POST', '/search', { search_string: 'a'.repeat(4_001) }],
    ['POST', '/search', { search_string: 'a', limit: 201 }],
    ['POST', '/search', { search_string: 'a', limit: '5' }],
  ])('respond 400 to %s %s with %j', async (method, more, body) => {
    const answer = await server.send(method, path + more, { body });
    expect([answer.status, answer.body.error]).toEqual([400, expect.any(String)]);
  });

  test('read a session whose id is the name of a route', async () => {
    server.conversations.put({ projectId: PROJECT_ID, sessionId: 'search' });
    const { status, body } = await server.send('GET', `${path}/search`);
    expect([status, body.sessionId]).toEqual([200, 'search']);
    const put = await server.send('PUT', `${path}/search`);
    expect([put.status, put.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  });

  test('respond 404 to a session of another project', async () => {
    server.conversations.put({ projectId: 'other', sessionId: 's' });
    expect((await server.send('GET', `${path}/s`)).status).toBe(404);
  });
});

test('A session shows no internal messages', async () => {
  const { state } = server.conversations.put({ projectId: PROJECT_ID, sessionId: 's' });
  const call = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
  server.conversations.put({
    projectId: PROJECT_ID,
    sessionId: 's',
    callId: 'call-1',
    state: {
      ...state,
      messages: [
        { role: 'user', content: 'Hi', at: AT },
        { role: 'assistant', content: null, at: AT, tool_calls: [call], internal: true },
        { role: 'tool', content: 'x', at: AT, tool_call_id: 'c', internal: true },
        { role: 'assistant', content: null, at: AT, tool_calls: [call], nodeId: 'n' },
        { role: 'tool', content: 'y', at: AT, tool_call_id: 'c', name: 'look' },
      ],
    },
  });
  const { body } = await server.send('GET', `${V1}/s`);
  expect(body.state.callId).toBe('call-1');
  expect(body.state.messages).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', content: 'y', tool_call_id: 'c', name: 'look' },
  ]);
});

describe('Terminating', () => {
  const terminate = (session_id: string) => server.send('POST', `${V1}/terminate`, { body: { session_id } });

  test('ends the session', async () => {
    server.conversations.put({ projectId: PROJECT_ID, sessionId: 's' });
    const { status, body } = await terminate('s');
    expect([status, body]).toEqual([200, { success: true, sessionId: 's', message: 'Session terminated' }]);
    expect(server.conversations.ended).toEqual([{ sessionId: 's', reason: 'api_terminate' }]);
    expect(hungUp).toEqual([]);
  });

  test('hangs up the call first', async () => {
    server.conversations.put({ projectId: PROJECT_ID, sessionId: 's', callId: 'call-1' });
    await terminate('s');
    expect(hungUp).toEqual([[PROJECT_ID, 'call-1']]);
    expect(server.conversations.ended).toHaveLength(1);
  });

  test('an unknown session is 404', async () => {
    expect((await terminate('s')).status).toBe(404);
  });
});

test('A developer key alone can create a session on the working copy', async () => {
  const headers = { 'x-agent-version': 'draft' };
  await server.send('POST', V1, { key: DEVELOPER_KEY, headers, body: { session_id: 'a' } });
  const refused = await server.send('POST', V1, { headers, body: { session_id: 'b' } });
  expect(refused).toMatchObject({ status: 403, body: { code: 'developer_key_required' } });
  expect(server.conversations.created.map(({ draft }) => draft)).toEqual([true]);
});

describe('Listing models', () => {
  test.each([`/project/${PROJECT_ID}/models`, `/v1/projects/${PROJECT_ID}/models`])(
    'works at %s',
    async (path) => {
      const { body } = await server.send('GET', path);
      expect(body).toEqual({
        object: 'list',
        data: [
          { id: 'scripted-model', object: 'model', created: 0, owned_by: 'callway' },
          { id: 'vendor/large', object: 'model', created: 0, owned_by: 'callway' },
        ],
      });
      expect((await server.send('GET', `${path}/vendor%2Flarge`)).body).toEqual(body.data[1]);
      expect((await server.send('GET', `${path}/other`)).body.code).toBe('model_not_found');
    },
  );
});
