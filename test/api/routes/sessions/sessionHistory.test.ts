import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { toSessionUsage } from '../../../../src/agents/cost/usage.ts';

import type { HistoryDetail, HistoryStats } from '../../../../src/engine/history/historyStore.ts';
import { PROJECT_ID, startTestServer, type TestServer } from '../../../support/httpServer.ts';
import { detectLeaks } from '../../../support/leaks.ts';

const BASE = `/v1/projects/${PROJECT_ID}/session-history`;
const AT = '2026-01-01T00:00:00.000Z';
const COST = {
  total: 0.0123,
  chat: 0.01,
  recognition: 0.002,
  synthesis: 0.0003,
  carrier: 0,
  afterwards: 0,
  currency: 'USD',
  unpriced: ['carrier'],
};
const SUMMARY = {
  sessionId: 's',
  channel: 'phone' as const,
  release: 'draft' as const,
  status: 'ended',
  startedAt: AT,
  endedAt: AT,
  durationMs: 42_180,
  messageCount: 3,
  callId: 'call-1',
  cost: COST,
  disposition: 'booked',
  success: true,
};
const STATS: HistoryStats = {
  total: 3,
  byChannel: { chat: 2, phone: 1 },
  byStatus: { ended: 3 },
  byDay: [{ day: '2026-01-01', sessions: 3 }],
  durationMs: { mean: 100, p95: null },
  turns: 9,
  turnLatencyMs: { p50: 300, p95: 900 },
  calls: { total: 4, answered: 3, answerRate: 0.75, turnLatencyMs: { p50: null, p95: 950 } },
};
const DETAIL: HistoryDetail = {
  sessionId: 's',
  channel: 'chat',
  release: 2,
  status: 'ended',
  startedAt: AT,
  endedAt: null,
  disposition: null,
  success: null,
  variables: { guests: 2 },
  messages: [
    { role: 'user', content: 'Hi', at: AT },
    { role: 'tool', content: 'secret', at: AT, tool_call_id: 'c', internal: true },
    {
      role: 'assistant',
      content: 'Hel',
      generatedText: 'Hello',
      at: AT,
      nodeId: 'n',
      latencyMs: 12,
      interrupted: true,
    },
  ],
  events: [{ type: 'session_started', at: AT, data: { channel: 'chat' } }],
  usage: toSessionUsage({ 'inputTokens/gpt-x': 1200, 'outputTokens/gpt-x': 40 }),
  cost: null,
};

let assertNoLeaks: () => Promise<void>;
let server: TestServer;
const asked: unknown[] = [];
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  server = await startTestServer({
    history: {
      async list(...wanted) {
        asked.push(wanted);
        return { items: [SUMMARY], total: 9, nextCursor: 'next' };
      },
      async stats(...wanted) {
        asked.push(wanted);
        return STATS;
      },
      find: async (projectId, sessionId) =>
        projectId === PROJECT_ID && sessionId === 's' ? DETAIL : undefined,
    },
  });
});
afterAll(async () => {
  await server.close();
  await assertNoLeaks();
});
beforeEach(() => {
  asked.length = 0;
});

test('The history lists sessions', async () => {
  const { status, body } = await server.send('GET', BASE);
  expect([status, body]).toEqual([
    200,
    { results: [SUMMARY], pagination: { limit: 50, offset: 0, total: 9, nextCursor: 'next' } },
  ]);
  expect(asked).toEqual([[PROJECT_ID, {}, { limit: 50, offset: 0 }]]);
});

test('The history list can be filtered', async () => {
  const query =
    'channel=phone&status=ended&from=2026-01-01&to=2026-01-02T08:00:00%2B08:00&q=Ada&limit=5&offset=10';
  expect((await server.send('GET', `${BASE}?${query}`)).status).toBe(200);
  expect(asked).toEqual([
    [
      PROJECT_ID,
      {
        channel: 'phone',
        status: 'ended',
        from: '2026-01-01T00:00:00.000Z',
        to: '2026-01-02T00:00:00.000Z',
        q: 'Ada',
      },
      { limit: 5, offset: 10 },
    ],
  ]);
});

test.each([
  ['channel=fax', '/channel'],
  ['from=yesterday', '/from'],
  ['from=2026-02-30', '/from'],
  ['from=2026-01-02&to=2026-01-01', '/from'],
  ['limit=0', '/limit'],
  ['limit=201', '/limit'],
  ['offset=-1', '/offset'],
  ['q=', '/q'],
])('The query %s is 400', async (query, path) => {
  const { status, body } = await server.send('GET', `${BASE}?${query}`);
  expect([status, body.details?.[0].path]).toEqual([400, path]);
  expect(asked).toEqual([]);
});

test('The history counts sessions', async () => {
  const { body } = await server.send('GET', `${BASE}/stats?from=2026-01-01`);
  expect(body).toEqual(STATS);
  expect(asked).toEqual([[PROJECT_ID, { from: '2026-01-01T00:00:00.000Z' }]]);
});

test('A transcript has messages and events, without internal messages', async () => {
  const { status, body } = await server.send('GET', `${BASE}/s`);
  expect(status).toBe(200);
  expect(body).toEqual({ ...DETAIL, messages: [DETAIL.messages[0], DETAIL.messages[2]] });
  expect((await server.send('GET', `${BASE}/other`)).body.code).toBe('session_not_found');
});
