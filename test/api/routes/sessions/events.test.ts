import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import type { NewLiveEvent } from '../../../../src/events/liveEvent.ts';
import {
  DEVELOPER_KEY,
  PROJECT_ID,
  READ_ONLY_KEY,
  startTestServer,
  type TestServer,
} from '../../../support/httpServer.ts';
import { detectLeaks } from '../../../support/leaks.ts';

const PATH = `/v1/projects/${PROJECT_ID}/events`;

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let server: TestServer;
let leave: AbortController;
beforeEach(async () => {
  server = await startTestServer();
  leave = new AbortController();
});
afterEach(async () => {
  leave.abort();
  await vi.waitFor(() => expect(server.events.listeners()).toBe(0));
  await server.close();
});

const ended = (sessionId: string): NewLiveEvent => ({
  type: 'session.ended',
  projectId: PROJECT_ID,
  sessionId,
  data: { channel: 'chat', reason: 'idle', missingVariables: [] },
});

/** Opens a stream, and reads it on. */
async function open(query = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}${PATH}${query}`, {
    headers: { authorization: `Bearer ${READ_ONLY_KEY}`, ...headers },
    signal: leave.signal,
  });
  let received = '';
  const isOver = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) received += chunk;
  })().catch(() => undefined);
  await vi.waitFor(() => expect(received).not.toBe(''));
  const until = (text: string) => vi.waitFor(() => expect(received).toContain(text));
  return { response, received: () => received, until, isOver };
}

test('A key that may read has the events of its project as a stream, with a comment every 15 s', async () => {
  const stream = await open();
  expect(stream.response.status).toBe(200);
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  server.events.publish(ended('s'));
  await stream.until('id: 1-0\nevent: session.ended\ndata: {"id":"1-0","type":"session.ended",');
  expect(stream.received()).not.toContain(': keep-alive');
  server.clock.advance(15_000);
  await stream.until(': keep-alive\n\n');
});

test('Last-Event-ID continues, and tells of lost events', async () => {
  for (const sessionId of ['one', 'two', 'three']) server.events.publish(ended(sessionId));
  const stream = await open('', { 'last-event-id': '1-0' });
  await stream.until('"three"');
  expect(stream.received()).not.toContain('"one"');
  expect(stream.received()).not.toContain('events_lost');
  const late = await open('', { 'last-event-id': '0-7' });
  await late.until('event: error\ndata: {"code":"events_lost"');
  await late.until('"one"');
});

test('Filters come as lists, repeated or separated by commas', async () => {
  const stream = await open('?type=session.started,turn.user&type=session.ended&sessionId=mine');
  server.events.publish(ended('another'));
  server.events.publish(ended('mine'));
  await stream.until('"mine"');
  expect(stream.received()).not.toContain('"another"');
});

test.each([
  ['type=call.started', {}, 'invalid_request'],
  ['type=', {}, 'invalid_request'],
  ['type=transcript.interim', {}, 'invalid_request'],
  ['interim=yes', {}, 'invalid_request'],
  ['', { 'last-event-id': 'yesterday' }, 'invalid_last_event_id'],
])('%s %j is refused', async (query, headers, code) => {
  const answer = await server.send('GET', `${PATH}?${query}`, { headers });
  expect([answer.status, answer.body.code]).toEqual([400, code]);
});

test('A stream ends within a minute of the revocation of its key, others go on', async () => {
  const [stream, other] = [await open(), await open('', { authorization: `Bearer ${DEVELOPER_KEY}` })];
  server.revoke(READ_ONLY_KEY);
  server.clock.advance(30_000);
  await stream.isOver;
  expect(stream.received()).toContain('event: error\ndata: {"code":"key_revoked"');
  server.events.publish(ended('s'));
  await other.until('"s"');
});

test('A shutdown ends the streams at once, and opens none', async () => {
  const stream = await open();
  server.drain();
  await stream.isOver;
  const answer = await server.send('GET', PATH);
  expect([answer.status, answer.body.code]).toEqual([503, 'node_draining']);
});

test('A project has a hundred streams on a node; one that is left makes room', async () => {
  await Promise.all(Array.from({ length: 100 }, () => open()));
  const refused = await server.send('GET', PATH);
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_event_streams']);
  expect(refused.headers.get('retry-after')).toBe('5');
  leave.abort();
  leave = new AbortController();
  await vi.waitFor(() => expect(server.events.listeners()).toBe(0));
  expect((await open()).response.status).toBe(200);
});
