import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { CallerAudio } from '../../src/dialects/realtime/callerAudio.ts';
import { INITIAL_SESSION } from '../../src/dialects/realtime/realtimeSession.ts';
import { muLaw } from '../../src/dialects/wire/audio.ts';
import { drive, memorySockets } from '../streams/support/memorySockets.ts';
import { ANSWER, serveAgent, WORDS } from '../streams/support/servedAgent.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

type Event = Record<string, unknown> & { readonly type: string };

/** A client that talks with our agent. */
function connect() {
  const clock = createSimulatedClock();
  const [socket, end] = memorySockets();
  const { memory, ended } = serveAgent(end, { dialect: 'openai-realtime', clock, captions: true });
  const events: Event[] = [];
  socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString('utf8'))));
  const advance = (ms: number) =>
    drive(clock, new Promise<void>((resolve) => void clock.setTimer(resolve, ms)));
  onTestFinished(async () => {
    socket.close(1000);
    await drive(clock, ended);
  });
  const until = async (type: string, from = 0): Promise<Event> => {
    for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 20) {
      const found = events.slice(from).find((event) => event.type === type);
      if (found) return found;
      await advance(20);
    }
    throw new Error(`no ${type} in ${events.map((event) => event.type).join(', ')}`);
  };
  return {
    socket,
    events,
    memory,
    advance,
    until,
    send: (type: string, fields: object = {}) =>
      socket.send(JSON.stringify({ type, event_id: 'mine', ...fields })),
    types: (from = 0) => events.slice(from).map(({ type }) => type),
    messages: () =>
      memory.records.flatMap(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`)),
  };
}

type Client = ReturnType<typeof connect>;

const pcm = (ms: number, level: number) =>
  Buffer.from(new Int16Array(24 * ms).fill(level).buffer).toString('base64');
const speak = ({ send }: Client, ms: number) => send('input_audio_buffer.append', { audio: pcm(ms, 8000) });
const audioOf = (events: readonly Event[]) =>
  Buffer.concat(
    events.flatMap(({ type, delta }) =>
      type === 'response.output_audio.delta' ? [Buffer.from(String(delta), 'base64')] : [],
    ),
  );

/** Waits until the agent's greeting was heard. */
async function greeted(client: Client): Promise<number> {
  client.send('session.update', { session: { type: 'realtime' } });
  await client.until('response.done');
  return client.events.length;
}

test('The agent speaks first, in the events of one response', async () => {
  const client = connect();
  client.send('session.update', { session: { type: 'realtime', instructions: 'Be a pirate.', tools: [] } });
  const done = await client.until('response.done');
  const [first, second] = client.events;
  expect(first).toMatchObject({
    type: 'session.created',
    session: {
      type: 'realtime',
      model: 'callway',
      audio: { input: { format: { type: 'audio/pcm', rate: 24_000 } } },
    },
  });
  expect(second).toMatchObject({ type: 'session.updated', session: { instructions: '' } });
  expect([...new Set(client.types(2))]).toEqual([
    'response.created',
    'response.output_item.added',
    'conversation.item.added',
    'conversation.item.created',
    'response.content_part.added',
    'response.output_audio.delta',
    'response.output_audio_transcript.delta',
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'response.output_item.done',
    'conversation.item.done',
    'response.done',
  ]);
  const content = [{ type: 'output_audio', transcript: ANSWER }];
  expect(done.response).toMatchObject({ status: 'completed', output: [{ role: 'assistant', content }] });
  const deltas = client.events.filter(({ type }) => type === 'response.output_audio_transcript.delta');
  expect(deltas.map(({ delta }) => delta).join('')).toBe(ANSWER);
  // Seventeen words of 300 ms at 24 kHz.
  expect(audioOf(client.events).length / 2 / 24).toBeCloseTo(5100, -2);
  expect(new Set(client.events.map(({ event_id }) => event_id)).size).toBe(client.events.length);
});

test('The caller’s words are told, and answered', async () => {
  const client = connect();
  const from = await greeted(client);
  speak(client, 1000);
  await client.until('response.done', from);
  const seen = client.events.slice(from).filter(({ type }) => !type.startsWith('response.'));
  expect(seen.slice(0, 7).map(({ type }) => type)).toEqual([
    'input_audio_buffer.speech_started',
    ...[
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.created',
      'conversation.item.done',
    ],
    ...[
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
    ],
  ]);
  expect(client.types(from)).toContain('input_audio_buffer.speech_stopped');
  expect(seen[6]).toMatchObject({ item_id: seen[0]?.item_id, transcript: WORDS });
  expect(client.messages()).toContain(`user: ${WORDS}`);
});

test('A caller who speaks over the agent stops it, and the history has what the client played', async () => {
  const client = connect();
  client.send('session.update', { session: {} });
  const created = await client.until('response.output_item.added');
  await client.advance(1500);
  const from = client.events.length;
  for (let n = 0; n < 50; n++) {
    speak(client, 20);
    await client.advance(20);
  }
  const stopped = await client.until('response.done', from);
  expect(client.types(from).indexOf('input_audio_buffer.speech_started')).toBeLessThan(
    client.types(from).indexOf('response.done'),
  );
  expect(stopped.response).toMatchObject({
    status: 'cancelled',
    status_details: { type: 'cancelled', reason: 'turn_detected' },
  });
  const { id } = created.item as { id: string };
  // Three words of 300 ms.
  client.send('conversation.item.truncate', { item_id: id, content_index: 0, audio_end_ms: 950 });
  expect(await client.until('conversation.item.truncated', from)).toMatchObject({
    item_id: id,
    audio_end_ms: 950,
  });
  await client.until('response.created', from);
  expect(client.messages()[0]).toBe('assistant: Good morning and');
  expect(client.memory.records.flatMap(({ messages }) => messages)[0]?.heard).toBe('reported');
  client.send('conversation.item.retrieve', { item_id: id });
  const { item } = await client.until('conversation.item.retrieved', from);
  expect(item).toMatchObject({ id, status: 'incomplete', role: 'assistant' });
});

test('A transcript is retrieved once it is completed, as the agents SDK asks for it', async () => {
  const client = connect();
  client.send('session.update', { session: {} });
  await client.until('response.done');
  const from = client.events.length;
  speak(client, 1000);
  const completed = 'conversation.item.input_audio_transcription.completed';
  const { item_id, transcript } = await client.until(completed, from);
  client.send('conversation.item.retrieve', { item_id });
  const { item } = await client.until('conversation.item.retrieved', from);
  expect(item).toMatchObject({ id: item_id, content: [{ type: 'input_audio', transcript }] });
});

test('Without turn detection the client commits the caller’s turn', async () => {
  const client = connect();
  client.send('session.update', { session: { audio: { input: { turn_detection: null } } } });
  await client.until('response.done');
  const from = client.events.length;
  speak(client, 1000);
  await client.advance(3000);
  expect(client.types(from)).toEqual([]);
  client.send('input_audio_buffer.commit');
  client.send('response.create');
  await client.until('response.done', from);
  expect(client.types(from).slice(0, 6)).toEqual([
    ...[
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.created',
      'conversation.item.done',
    ],
    ...[
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
    ],
  ]);
  expect(client.types(from).filter((type) => type === 'response.created')).toHaveLength(1);
});

test('Audio that waits for a commit is heard as it came', () => {
  const audio = new CallerAudio(24_000);
  for (const level of [100, 200]) audio.append(pcm(60, level), INITIAL_SESSION.input, true);
  expect(audio.commit()?.map((samples) => samples[0])).toEqual([100, 200, 0]);
});

test('A typed message is answered, as text where the client wants text', async () => {
  const client = connect();
  client.send('session.update', { session: { output_modalities: ['text'] } });
  await client.until('response.done');
  const from = client.events.length;
  const content = [{ type: 'input_text', text: 'What does a room cost?' }];
  client.send('conversation.item.create', { item: { type: 'message', role: 'user', content } });
  client.send('response.create');
  const { response } = await client.until('response.done', from);
  expect(response).toMatchObject({ output: [{ content: [{ type: 'output_text', text: ANSWER }] }] });
  expect(client.types(from).slice(0, 3)).toEqual([
    ...['conversation.item.added', 'conversation.item.created', 'conversation.item.done'],
  ]);
  expect(client.types(from)).toContain('response.output_text.delta');
  expect(client.types()).not.toContain('response.output_audio.delta');
  expect(client.messages()).toContain('user: What does a room cost?');
});

test('A response is cancelled', async () => {
  const client = connect();
  client.send('session.update', { session: {} });
  await client.until('response.output_audio.delta');
  await client.advance(1000);
  client.send('response.create');
  expect(await client.until('error')).toMatchObject({
    error: { code: 'conversation_already_has_active_response', type: 'invalid_request_error' },
  });
  client.send('response.cancel');
  const { response } = await client.until('response.done');
  expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'client_cancelled' } });
  await client.advance(2000);
  expect(client.messages()[0]).toMatch(/^assistant: Good morning and( welcome,)?$/);
  const from = client.events.length;
  client.send('response.create');
  await client.until('response.created', from);
});

describe('Formats', () => {
  test('of G.711 are those of the stream', async () => {
    const client = connect();
    client.send('session.update', {
      session: {
        input_audio_format: 'g711_ulaw',
        output_audio_format: 'g711_ulaw',
        modalities: ['text', 'audio'],
      },
    });
    await client.until('response.done');
    const samples = muLaw.decode(audioOf(client.events));
    expect(samples.length / 8).toBeCloseTo(5100, -2);
    expect(Math.max(...samples)).toBeGreaterThan(4000);
  });

  test('may differ, and change', async () => {
    const client = connect();
    const format = { type: 'audio/pcma' };
    client.send('session.update', { session: { audio: { output: { format } } } });
    await client.until('response.done');
    expect(audioOf(client.events).length / 8).toBeCloseTo(5100, -2);
    const from = client.events.length;
    client.send('session.update', {
      session: { audio: { output: { format: { type: 'audio/pcm', rate: 24_000 } } } },
    });
    speak(client, 1000);
    await client.until('response.done', from);
    expect(audioOf(client.events.slice(from)).length / 48).toBeCloseTo(5100, -2);
  });
});

describe('A wrong event is answered with an error that names it', () => {
  const message = (fields: object) => ({
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }], ...fields },
  });
  test.each([
    ['invalid_value', 'session.rewind', {}],
    ['missing_required_parameter', 'session.update', {}],
    [
      'invalid_value',
      'session.update',
      { session: { audio: { input: { format: { type: 'audio/opus' } } } } },
    ],
    [
      'invalid_value',
      'session.update',
      { session: { audio: { output: { format: { type: 'audio/pcm', rate: 8000 } } } } },
    ],
    ['invalid_value', 'session.update', { session: { turn_detection: { type: 'telepathy' } } }],
    ['invalid_value', 'session.update', { session: { output_modalities: ['smell'] } }],
    ['invalid_value', 'input_audio_buffer.append', { audio: 5 }],
    ['input_audio_buffer_commit_empty', 'input_audio_buffer.commit', {}],
    ['invalid_value', 'conversation.item.create', {}],
    ['invalid_value', 'conversation.item.create', message({ role: 'system' })],
    ['invalid_value', 'conversation.item.create', message({ type: 'function_call_output' })],
    ['invalid_value', 'conversation.item.create', message({ content: [{ type: 'input_image' }] })],
    [
      'string_above_max_length',
      'conversation.item.create',
      message({ content: [{ type: 'input_text', text: 'x'.repeat(10_001) }] }),
    ],
    ['invalid_value', 'conversation.item.truncate', { item_id: 'item_9', audio_end_ms: 5 }],
    ['item_retrieve_invalid_item_id', 'conversation.item.retrieve', { item_id: 'item_9' }],
    ['response_cancel_not_active', 'response.cancel', {}],
  ])('%s: %s %j', async (code, type, fields) => {
    const client = connect();
    const from = await greeted(client);
    client.send(type, fields);
    const { error } = await client.until('error', from);
    expect(error).toMatchObject({ type: 'invalid_request_error', code, event_id: 'mine' });
    expect(client.socket.readyState).toBe(1);
  });

  test('also when it is none', async () => {
    const client = connect();
    client.socket.send('hello');
    expect((await client.until('error')).error).toMatchObject({ code: 'invalid_json', event_id: null });
  });
});

test('Arbitrary events end neither the stream nor the process', async () => {
  const client = connect();
  await greeted(client);
  const types = [
    'session.update',
    'input_audio_buffer.append',
    'conversation.item.create',
    'conversation.item.truncate',
  ];
  const event = fc.record({
    type: fc.constantFrom(...types, 'response.create', 'response.cancel'),
    session: fc.anything(),
    audio: fc.anything(),
    item: fc.anything(),
    item_id: fc.anything(),
    audio_end_ms: fc.anything(),
  });
  fc.assert(
    fc.property(event, (fields) =>
      client.socket.send(JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? 0 : value))),
    ),
    { numRuns: 50 },
  );
  await client.advance(500);
  expect(client.socket.readyState).toBe(1);
});
