import { beforeEach, expect, test } from 'vitest';

import type { EventFilter, EventSink } from '../../src/events/liveStream.ts';
import { LiveStream } from '../../src/events/liveStream.ts';
import { memoryEvents } from '../support/memoryEvents.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const ALL: EventFilter = { interim: false };
let events: ReturnType<typeof memoryEvents>;
beforeEach(() => {
  events = memoryEvents();
});

const say = (text: string, more: { projectId?: string; sessionId?: string; callId?: string } = {}) =>
  events.publish({
    type: 'turn.user',
    projectId: 'p',
    ...more,
    data: { turn: 1, text, input: 'words' },
  });
const interim = (text: string) =>
  events.publish({ type: 'transcript.interim', projectId: 'p', sessionId: 's', data: { text } });

/** A stream to a client that reads at once. */
async function open(filter = ALL, lastEventId?: string) {
  const sent: string[] = [];
  const sink = {
    send: (text: string) => void sent.push(text),
    bufferedBytes: 0,
    drained: async () => undefined,
    end: (text: string) => void sent.push(`${text}[end]`),
  } satisfies EventSink;
  const onSlowReader = () => void sent.push('slow');
  const stream = new LiveStream({ feed: events, clock: createSimulatedClock(), onSlowReader }, 'p', filter);
  await events.listen('p', stream);
  const hasLost = await stream.seek(lastEventId);
  stream.run(sink);
  await settle();
  const texts = () => sent.map((one) => /"text":"(.*?)"/.exec(one)?.[1] ?? one.trim());
  return { stream, sink, sent, hasLost, texts };
}

/** Reads from the feed take some microtasks. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test('A stream has what happens from its opening on, in the form of server-sent events', async () => {
  say('before');
  const { sent } = await open();
  say('after', { sessionId: 's' });
  expect(sent).toEqual([
    'id: 2-0\nevent: turn.user\ndata: {"id":"2-0","type":"turn.user","at":"2026-01-01T00:00:00.000Z",' +
      '"projectId":"p","sessionId":"s","data":{"turn":1,"text":"after","input":"words"}}\n\n',
  ]);
});

test('Another project’s events are not heard', async () => {
  const { sent } = await open();
  say('secret', { projectId: 'other' });
  expect(sent).toEqual([]);
});

test.each([
  ['types', { types: new Set(['call.ended'] as const), interim: false }, []],
  ['a session', { sessionId: 's', interim: false }, ['of s', 'of s and c']],
  ['a call', { callId: 'c', interim: false }, ['of s and c']],
  ['interim transcripts', { interim: true }, ['of none', 'of s', 'of s and c', 'of', 'of s']],
] as const)('A stream may ask for %s', async (_what, filter, expected) => {
  const { texts } = await open(filter);
  say('of none');
  say('of s', { sessionId: 's' });
  say('of s and c', { sessionId: 's', callId: 'c' });
  interim('of');
  interim('of s');
  expect(texts()).toEqual(expected);
});

test('A client that comes back has all that it has missed once, also by the id of an interim event', async () => {
  for (const text of ['one', 'two', 'three']) say(text);
  for (const lastEventId of ['1-0', '1-0.17']) {
    const { texts, hasLost } = await open(ALL, lastEventId);
    expect([hasLost, texts()]).toEqual([false, ['two', 'three']]);
  }
});

test('A client is told where events after its last one may be lost', async () => {
  say('one');
  const last = await open(ALL, '1-0');
  expect(last.hasLost).toBe(false);
  events.forget();
  say('two');
  const late = await open(ALL, '1-0');
  expect([late.hasLost, late.texts()]).toEqual([true, ['two']]);
  const ahead = await open(ALL, '99-0');
  say('three');
  expect([ahead.hasLost, ahead.texts()]).toEqual([true, ['three']]);
});

test('What happens while the connection to the events is lost is read afterwards', async () => {
  const { texts } = await open();
  say('one');
  events.disconnect();
  say('two');
  events.reconnect();
  say('three');
  await settle();
  say('four');
  expect(texts()).toEqual(['one', 'two', 'three', 'four']);
});

test('Events that happen while a stream catches up come after those before them', async () => {
  for (let count = 1; count <= 250; count += 1) say(`${count}`);
  const { texts, sink } = await open(ALL, '0-0');
  expect(texts()).toEqual(Array.from({ length: 250 }, (_, index) => `${index + 1}`));
  sink.drained = async () => {
    if (texts().length === 266) say('late');
  };
  events.disconnect();
  for (let count = 251; count <= 400; count += 1) say(`${count}`);
  events.reconnect();
  await settle();
  expect(texts()).toEqual([...Array.from({ length: 400 }, (_, index) => `${index + 1}`), 'late']);
});

test('A client that does not read is dropped with a reason, and hears nothing more', async () => {
  const { sink, sent, stream } = await open();
  sink.bufferedBytes = 300 * 1024;
  say('one');
  say('two');
  stream.close();
  expect(sent.slice(1)).toEqual([
    'slow',
    'event: error\ndata: {"code":"slow_reader","message":"The client does not read as fast as events happen"}\n\n[end]',
  ]);
});

test('A stream that catches up reads as much at once as a client may leave unread', async () => {
  const limits: number[] = [];
  const after: typeof events.after = (projectId, place, limit) => {
    limits.push(limit);
    return events.after(projectId, place, limit);
  };
  const deps = { feed: { ...events, after }, clock: createSimulatedClock(), onSlowReader: () => {} };
  const stream = new LiveStream(deps, 'p', ALL);
  const sink: EventSink = {
    send: () => undefined,
    bufferedBytes: 0,
    drained: async () => undefined,
    end: () => undefined,
  };
  stream.run(sink);
  await settle();
  expect(limits).toEqual([16]);
});
