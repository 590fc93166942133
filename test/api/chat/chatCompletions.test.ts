import { describe, expect, onTestFinished, test } from 'vitest';
import { CallwayError, invalid } from '../../../src/base/errors.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { calling, done, saying, toolCall } from '../../support/fakeEngine.ts';
import { LEGACY_SUNSET } from '../../support/httpDeps.ts';
import { startTestServer } from '../../support/httpServer.ts';
import { events, LEGACY, useChatApi, user, V1, WEATHER } from './support/chatApi.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const rig = useChatApi();
const { ask } = rig;

describe.each([
  ['legacy', LEGACY],
  ['v1', V1],
])('Chat completions on the %s path', (family, path) => {
  test('return the whole answer', async () => {
    rig.server.conversations.play(saying('Good ', 'morning'));
    const { status, headers, body } = await ask({ messages: [user('Hi')] }, { path });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: Math.floor(rig.server.clock.now() / 1000),
      model: 'scripted-model',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Good morning' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 },
      session_id: headers.get('x-session-id'),
    });
    expect(body.id.slice('chatcmpl-'.length)).toMatch(UUID);
    expect(body.session_id).toMatch(UUID);
    expect(rig.server.conversations.requests[0]?.request.input).toEqual({ kind: 'user_message', text: 'Hi' });
  });

  test('stream the answer', async () => {
    rig.server.conversations.play(saying('Good ', 'mor"ning\n'));
    const { status, headers, text } = await ask(
      { messages: [user('Hi')], stream: true },
      {
        path,
        headers: { 'x-session-id': 's-1', origin: 'https://app.example', 'x-request-id': `r-${family}` },
      },
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('x-session-id')).toBe('s-1');
    expect(headers.get('x-request-id')).toBe(`r-${family}`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(headers.get('sunset')).toBe(family === 'legacy' ? LEGACY_SUNSET.toUTCString() : null);
    const { chunks, isDone } = events(text);
    expect(isDone).toBe(true);
    const common = {
      id: chunks[0].id,
      object: 'chat.completion.chunk',
      created: Math.floor(rig.server.clock.now() / 1000),
      model: 'scripted-model',
      session_id: 's-1',
    };
    const choice = (delta: object, finish_reason: string | null = null) => ({
      ...common,
      choices: [{ index: 0, delta, finish_reason }],
    });
    expect(chunks).toEqual([
      choice({ role: 'assistant', content: '' }),
      choice({ content: 'Good ' }),
      choice({ content: 'mor"ning\n' }),
      choice({}, 'stop'),
    ]);
    await expect
      .poll(() => rig.server.logLines)
      .toContainEqual(expect.objectContaining({ requestId: `r-${family}`, status: 200 }));
  });
});

describe('Client tools', () => {
  const CALL = toolCall('call_1', 'get_weather', { city: 'Taipei' });

  test('return whole calls and take their results', async () => {
    rig.server.conversations.play(calling(CALL), saying('Sunny'));
    const first = await ask({ messages: [user('Weather?')], tools: [WEATHER], session_id: 's' });
    const [choice] = first.body.choices;
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message).toEqual({ role: 'assistant', content: null, tool_calls: [CALL] });
    expect(rig.server.conversations.requests[0]?.request.callerTools).toEqual([
      { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: {} } },
    ]);
    const result = { role: 'tool', tool_call_id: 'call_1', content: '31 °C' };
    const second = await ask({ messages: [user('Weather?'), choice.message, result], session_id: 's' });
    expect(second.body.choices[0]).toMatchObject({ message: { content: 'Sunny' }, finish_reason: 'stop' });
    expect(rig.server.conversations.requests[1]?.request).toEqual({
      digest: expect.any(String),
      isWhole: true,
      input: {
        kind: 'tool_results',
        results: [{ toolCallId: 'call_1', name: 'get_weather', content: '31 °C' }],
      },
    });
  });

  test('stream id and name first, then the arguments, each with its index', async () => {
    rig.server.conversations.play(calling(CALL, toolCall('call_2', 'get_time', {})));
    const { text } = await ask({ messages: [user('Weather?')], tools: [WEATHER], stream: true });
    const { chunks, isDone } = events(text);
    expect(isDone).toBe(true);
    expect(chunks.slice(1).map(({ choices: [{ delta, finish_reason }] }) => [delta, finish_reason])).toEqual([
      [
        {
          tool_calls: [
            { index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } },
          ],
        },
        null,
      ],
      [{ tool_calls: [{ index: 0, function: { arguments: '{"city":"Taipei"}' } }] }, null],
      [
        {
          tool_calls: [
            { index: 1, id: 'call_2', type: 'function', function: { name: 'get_time', arguments: '' } },
          ],
        },
        null,
      ],
      [{ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }, null],
      [{}, 'tool_calls'],
    ]);
  });

  test.each([
    ['auto', 'auto'],
    ['required', 'required'],
    [{ type: 'function', function: { name: 'get_weather' } }, { name: 'get_weather' }],
  ])('pass tool_choice %j to the turn', async (tool_choice, toolChoice) => {
    await ask({ messages: [user('Hi')], tools: [WEATHER], tool_choice });
    expect(rig.server.conversations.requests[0]?.request.toolChoice).toEqual(toolChoice);
  });
});

describe('Token usage', () => {
  const COUNTS = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

  test('is reported when the request asks for it', async () => {
    const { body } = await ask({ messages: [user('Hi')], stream_options: { include_usage: true } });
    expect(body.usage).toEqual(COUNTS);
  });

  test('is reported when the project is set to', async () => {
    rig.server.project.reportUsage = true;
    expect((await ask({ messages: [user('Hi')] })).body.usage).toEqual(COUNTS);
  });

  test('is in the last chunk, which has no choices, and null before', async () => {
    const { text } = await ask({
      messages: [user('Hi')],
      stream: true,
      stream_options: { include_usage: true },
    });
    const { chunks, isDone } = events(text);
    expect(isDone).toBe(true);
    expect(chunks.map(({ usage }) => usage)).toEqual([null, null, null, COUNTS]);
    expect(chunks.at(-1).choices).toEqual([]);
    expect(chunks.at(-1).id).toBe(chunks[0].id);
  });
});

test('Fillers are part of the text; actions are ignored', async () => {
  rig.server.conversations.play(async function* () {
    yield { type: 'action', action: { kind: 'send_dtmf', digits: '1' } };
    yield { type: 'filler', text: 'One moment… ' };
    yield { type: 'action', action: { kind: 'transfer', to: '+886212345678' } };
    yield { type: 'text', text: 'Here it is' };
  });
  const whole = await ask({ messages: [user('Hi')] });
  expect(whole.body.choices[0].message.content).toBe('One moment… Here it is');
  const { chunks } = events((await ask({ messages: [user('Hi')], stream: true })).text);
  expect(chunks.map(({ choices }) => choices[0].delta.content)).toEqual([
    '',
    'One moment… ',
    'Here it is',
    undefined,
  ]);
});

describe('An answer without text', () => {
  test.each([false, true])('is complete (stream: %s)', async (stream) => {
    rig.server.conversations.play(async function* () {
      yield done({ ended: 'end_node' });
    });
    const { status, body, text } = await ask({ messages: [user('Bye')], stream });
    expect(status).toBe(200);
    if (!stream) {
      expect(body.choices[0].message).toEqual({ role: 'assistant', content: '' });
      return;
    }
    const { chunks, isDone } = events(text);
    expect(isDone).toBe(true);
    expect(chunks.map(({ choices: [{ delta }] }) => delta)).toEqual([{ role: 'assistant', content: '' }, {}]);
  });
});

describe('A failure', () => {
  const away = () =>
    new ModelError('model_unavailable', 'The model did not answer', { beforeFirstToken: true });

  test.each<[string, () => Error, number, string, boolean]>([
    ['the model is away', away, 500, 'model_unavailable', false],
    ['the model is away', away, 500, 'model_unavailable', true],
    [
      'the model’s endpoint refuses the request',
      () => new ModelError('model_rejected', 'Check the key', { beforeFirstToken: true }),
      500,
      'model_unavailable',
      true,
    ],
    [
      'the session is busy',
      () => new CallwayError('conflict', 'session_busy', 'Another turn is running'),
      409,
      'session_busy',
      true,
    ],
    ['something is unforeseen', () => new Error('SELECT secret'), 500, 'internal_error', true],
    ['the input is refused late', () => invalid('refused', 'No'), 400, 'refused', true],
  ])('%s before the first output is an error response', async (_, error, status, code, stream) => {
    // biome-ignore lint/correctness/useYield: fails before its first output
    rig.server.conversations.play(async function* () {
      throw error();
    });
    const answer = await ask({ messages: [user('Hi')], stream });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.body).toMatchObject({ error: expect.any(String), code });
    expect(answer.text).not.toContain('SELECT');
    expect(answer.headers.get('x-session-id')).toBe(rig.server.conversations.requests[0]?.session.sessionId);
  });

  test('midway in a stream is an event, without [DONE]', async () => {
    rig.server.conversations.play(async function* () {
      yield { type: 'text', text: 'Once ' };
      throw new ModelError('model_malformed', 'The model broke off', { beforeFirstToken: false });
    });
    const { status, text } = await ask({ messages: [user('Hi')], stream: true });
    expect(status).toBe(200);
    expect(
      text.endsWith('data: {"error":{"message":"The model broke off","code":"model_malformed"}}\n\n'),
    ).toBe(true);
    expect(text).not.toContain('[DONE]');
    expect(rig.server.logLines).toContainEqual(expect.objectContaining({ msg: 'chat stream failed midway' }));
  });

  test('midway in a whole answer is an error response', async () => {
    rig.server.conversations.play(async function* () {
      yield { type: 'text', text: 'Once ' };
      throw new ModelError('model_malformed', 'The model broke off', { beforeFirstToken: false });
    });
    const { status, body } = await ask({ messages: [user('Hi')] });
    expect(status).toBe(500);
    expect(body).toEqual({ error: 'The model broke off', code: 'model_malformed' });
  });

  test('after the last chunk is only logged', async () => {
    rig.server.conversations.play(async function* () {
      yield done();
      throw new Error('the lock was lost');
    });
    const { text } = await ask({ messages: [user('Hi')], stream: true });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await expect
      .poll(() => rig.server.logLines)
      .toContainEqual(expect.objectContaining({ msg: 'chat stream failed midway' }));
  });
});

test('The legacy path is 410 with its successor after the sunset', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  server.clock.advance(LEGACY_SUNSET.getTime() - server.clock.now());
  const body = { messages: [user('Hi')] };
  const removed = await server.send('POST', LEGACY, { body });
  expect(removed.status).toBe(410);
  expect(removed.body).toMatchObject({ code: 'legacy_route_removed', successor: V1 });
  expect((await server.send('POST', V1, { body })).status).toBe(200);
});
