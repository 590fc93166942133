import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { CallwayError, invalid } from '../../../src/base/errors.ts';
import { ModelError } from '../../../src/providers/ports/modelError.ts';
import { calling, done, saying, toolCall } from '../../support/fakeEngine.ts';
import {
  DEVELOPER_KEY,
  LEGACY_SUNSET,
  PROJECT_ID,
  READ_ONLY_KEY,
  startTestServer,
  type TestServer,
} from '../../support/httpServer.ts';
import { detectLeaks } from '../../support/leaks.ts';

const LEGACY = `/project/${PROJECT_ID}/chat/completions`;
const V1 = `/v1/projects/${PROJECT_ID}/chat/completions`;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const user = (content: unknown) => ({ role: 'user', content });
const WEATHER = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: {} } },
};

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const ask = (body: object, more: { headers?: Record<string, string>; key?: string; path?: string } = {}) =>
  server.send('POST', more.path ?? V1, { body, ...more });

/** The events of a stream, and whether it ended with [DONE]. */
function events(text: string) {
  const data = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
  const isDone = data.at(-1) === '[DONE]';
  // biome-ignore lint/suspicious/noExplicitAny: responses have every shape
  return { chunks: data.filter((one) => one !== '[DONE]').map((one): any => JSON.parse(one)), isDone };
}

describe.each([
  ['legacy', LEGACY],
  ['v1', V1],
])('Chat completions on the %s path', (family, path) => {
  test('return the whole answer', async () => {
    server.conversations.play(saying('Good ', 'morning'));
    const { status, headers, body } = await ask({ messages: [user('Hi')] }, { path });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: Math.floor(server.clock.now() / 1000),
      model: 'scripted-model',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Good morning' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 },
      session_id: headers.get('x-session-id'),
    });
    expect(body.id.slice('chatcmpl-'.length)).toMatch(UUID);
    expect(body.session_id).toMatch(UUID);
    expect(server.conversations.requests[0]?.request.input).toEqual({ kind: 'words', text: 'Hi' });
  });

  test('stream the answer', async () => {
    server.conversations.play(saying('Good ', 'mor"ning\n'));
    const { status, headers, text } = await ask(
      { messages: [user('Hi')], stream: true },
      { path, headers: { 'x-session-id': 's-1', origin: 'https://app.example', 'x-request-id': 'r-1' } },
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('x-session-id')).toBe('s-1');
    expect(headers.get('x-request-id')).toBe('r-1');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(headers.get('sunset')).toBe(family === 'legacy' ? LEGACY_SUNSET.toUTCString() : null);
    const { chunks, isDone } = events(text);
    expect(isDone).toBe(true);
    const common = {
      id: chunks[0].id,
      object: 'chat.completion.chunk',
      created: Math.floor(server.clock.now() / 1000),
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
    await expect.poll(() => server.requestsDone).toMatchObject([{ status: 200, route: expect.any(String) }]);
  });
});

describe('The session of a chat', () => {
  test.each([
    ['the header wins over the body', { 'x-session-id': 'from-header' }, 'from-body', 'from-header'],
    ['the body where there is no header', {}, 'from-body', 'from-body'],
  ])('%s', async (_, headers, session_id, expected) => {
    const answer = await ask({ messages: [user('Hi')], session_id }, { headers });
    expect(answer.body.session_id).toBe(expected);
    expect(answer.headers.get('x-session-id')).toBe(expected);
    expect(server.conversations.requests[0]?.session.sessionId).toBe(expected);
  });

  test.each([false, true])('has its UTF-8 id in the response header (stream: %s)', async (stream) => {
    const bytes = Buffer.from('客戶-4711', 'utf8').toString('latin1');
    const answer = await ask({ messages: [user('Hi')], stream }, { headers: { 'x-session-id': bytes } });
    expect(answer.text).toContain('"session_id":"客戶-4711"');
    expect(answer.headers.get('x-session-id')).toBe(bytes);
  });

  test('has an id that is invalid in a header only in the body', async () => {
    const answer = await ask({ messages: [user('Hi')], session_id: 'two\nlines' });
    expect(answer.body.session_id).toBe('two\nlines');
    expect(answer.headers.get('x-session-id')).toBeNull();
  });

  test.each([
    ['an empty header', { 'x-session-id': '' }, undefined],
    ['a header that is too long', { 'x-session-id': 'a'.repeat(256) }, undefined],
    ['an empty session_id', {}, ''],
    ['a session_id that is too long', {}, 'a'.repeat(256)],
    ['a session_id that is no string', {}, 7],
  ])('%s is 400', async (_, headers, session_id) => {
    const answer = await ask({ messages: [user('Hi')], session_id }, { headers });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/session.?id/i);
    expect(server.conversations.requests).toEqual([]);
  });

  test('can have an id of 255 emoji', async () => {
    const session_id = '🙂'.repeat(255);
    expect((await ask({ messages: [user('Hi')], session_id })).body.session_id).toBe(session_id);
  });
});

describe('Client tools', () => {
  const CALL = toolCall('call_1', 'get_weather', { city: 'Taipei' });

  test('return whole calls and take their results', async () => {
    server.conversations.play(calling(CALL), saying('Sunny'));
    const first = await ask({ messages: [user('Weather?')], tools: [WEATHER], session_id: 's' });
    const [choice] = first.body.choices;
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message).toEqual({ role: 'assistant', content: null, tool_calls: [CALL] });
    expect(server.conversations.requests[0]?.request.callerTools).toEqual([
      { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: {} } },
    ]);
    const result = { role: 'tool', tool_call_id: 'call_1', content: '31 °C' };
    const second = await ask({ messages: [user('Weather?'), choice.message, result], session_id: 's' });
    expect(second.body.choices[0]).toMatchObject({ message: { content: 'Sunny' }, finish_reason: 'stop' });
    expect(server.conversations.requests[1]?.request).toEqual({
      digest: expect.any(String),
      input: {
        kind: 'tool_results',
        results: [{ toolCallId: 'call_1', name: 'get_weather', content: '31 °C' }],
      },
    });
  });

  test('stream id and name first, then the arguments, each with its index', async () => {
    server.conversations.play(calling(CALL, toolCall('call_2', 'get_time', {})));
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
    expect(server.conversations.requests[0]?.request.toolChoice).toEqual(toolChoice);
  });
});

const PASSED_ON = {
  top_p: 0.5,
  user: 'u-1',
  metadata: { a: 'b' },
  stop: ['END'],
  presence_penalty: 0.1,
  frequency_penalty: 0.2,
  logit_bias: { 50: -1 },
  reasoning_effort: 'low',
  service_tier: 'flex',
};

test('Model parameters are passed to the turn; unknown and null fields are ignored', async () => {
  const { status } = await ask({
    messages: [{ role: 'developer', content: 'Be brief' }, user([{ type: 'text', text: 'Hi' }])],
    model: 'gpt-4o',
    n: 1,
    temperature: 0.2,
    max_tokens: 9,
    max_completion_tokens: 5,
    ...PASSED_ON,
    seed: null,
    response_format: { type: 'json_object' },
    parallel_tool_calls: false,
    anything: { else: true },
  });
  expect(status).toBe(200);
  expect(server.conversations.requests[0]?.request).toEqual({
    digest: expect.any(String),
    input: { kind: 'words', text: 'Hi' },
    instructions: ['Be brief'],
    temperature: 0.2,
    maxOutputTokens: 5,
    parallelToolCalls: false,
    responseFormat: { type: 'json_object' },
    passthrough: PASSED_ON,
  });
});

test.each([
  ['a schema', { name: 'day', schema: { type: 'object' }, strict: true }],
  ['a schema with nulls', { name: 'day', description: null, schema: { type: 'object' }, strict: null }],
  ['a name alone', { name: 'day' }],
])('A response_format of %s is passed to the turn', async (_what, json_schema) => {
  await ask({ messages: [user('Hi')], response_format: { type: 'json_schema', json_schema } });
  const given = Object.fromEntries(Object.entries(json_schema).filter(([, value]) => value !== null));
  expect(server.conversations.requests[0]?.request.responseFormat).toEqual({
    type: 'json_schema',
    json_schema: given,
  });
});

test('A response_format of text is the default', async () => {
  await ask({ messages: [user('Hi')], response_format: { type: 'text' } });
  expect(server.conversations.requests[0]?.request).toEqual({
    digest: expect.any(String),
    input: { kind: 'words', text: 'Hi' },
  });
});

describe('Invalid input is 400 without a turn', () => {
  const USER = user('Hi');
  const tool = (more: object) => ({ messages: [USER], tools: [{ ...WEATHER, ...more }] });
  test.each<[string, unknown, string, string]>([
    ['no messages', {}, '/messages', 'messages is required'],
    [
      'an unknown response_format',
      { messages: [USER], response_format: { type: 'yaml' } },
      '/response_format/type',
      'type must be "text", "json_object" or "json_schema"',
    ],
    [
      'a schema without a name',
      { messages: [USER], response_format: { type: 'json_schema', json_schema: { schema: {} } } },
      '/response_format/json_schema/name',
      'name is required',
    ],
    ['empty messages', { messages: [] }, '/messages', 'at least one entry'],
    ['messages of another type', { messages: 'Hi' }, '/messages', 'must be an array'],
    ['an unknown role', { messages: [{ role: 'robot', content: '' }] }, '/messages/0/role', 'role'],
    ['a user message without content', { messages: [{ role: 'user' }] }, '/messages/0/content', 'content'],
    ['null as a user’s content', { messages: [user(null)] }, '/messages/0/content', 'content'],
    [
      'an image',
      { messages: [user([{ type: 'image_url', image_url: { url: 'x' } }])] },
      '/messages/0/content/0/type',
      'only parts of type "text"',
    ],
    [
      'a tool message without tool_call_id',
      { messages: [USER, { role: 'tool', content: '1' }] },
      '/messages/1/tool_call_id',
      'tool_call_id is required',
    ],
    ['a tool of another type', tool({ type: 'retrieval' }), '/tools/0/type', 'type "function"'],
    [
      'a tool with a bad name',
      tool({ function: { name: 'get weather' } }),
      '/tools/0/function/name',
      'letters, digits',
    ],
    [
      'a tool with the name of the agent’s own',
      tool({ function: { name: 'move_to' } }),
      '/tools/0/function/name',
      'must not be move_to',
    ],
    [
      'two tools of one name',
      { messages: [USER], tools: [WEATHER, WEATHER] },
      '/tools',
      'each tool needs a unique name',
    ],
    [
      'a choice of no tool',
      { messages: [USER], tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'x' } } },
      '/tool_choice',
      'none of the tools',
    ],
    ['several answers', { messages: [USER], n: 2 }, '/n', 'n must be 1'],
    ['a number as text', { messages: [USER], temperature: '1' }, '/temperature', 'must be a number'],
    ['a body that is no object', [], '', 'must be an object'],
  ])('%s', async (_, body, path, message) => {
    const answer = await ask(body as object);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(message);
    expect(answer.body.details[0]).toEqual({ path, message: answer.body.error });
    expect(server.conversations.requests).toEqual([]);
  });

  test.each([
    [
      'an assistant message at the end',
      [user('Hi'), { role: 'assistant', content: 'Hello' }],
      'nothing_to_answer',
    ],
    ['instructions only', [{ role: 'system', content: 'Be brief' }], 'nothing_to_answer'],
    [
      'a result of no call',
      [user('Hi'), { role: 'tool', tool_call_id: 'x', content: '' }],
      'unknown_tool_call',
    ],
  ])('%s', async (_, messages, code) => {
    const answer = await ask({ messages, stream: true });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe(code);
    expect(server.conversations.created).toEqual([]);
  });

  test('A body over 4 MiB is 413, one of 3 MiB is accepted', async () => {
    expect((await ask({ messages: [user('a'.repeat(3 * 1_048_576))] })).status).toBe(200);
    expect((await ask({ messages: [user('a'.repeat(4 * 1_048_576))] })).status).toBe(413);
  });
});

describe('Chat access', () => {
  test('refuses developer keys on the legacy path', async () => {
    const answer = await ask({ messages: [user('Hi')] }, { path: LEGACY, key: DEVELOPER_KEY });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error: { message: expect.any(String), code: 'invalid_credential' } });
  });

  test('needs the scope write', async () => {
    expect((await ask({ messages: [user('Hi')] }, { key: READ_ONLY_KEY })).status).toBe(403);
  });

  test.each([
    ['a developer key', DEVELOPER_KEY, 'draft', true],
    ['a secret key', 'sk_test', 'draft', false],
    ['another version', DEVELOPER_KEY, 'published', false],
  ])('handles X-Agent-Version with %s', async (_, key, version, draft) => {
    await ask({ messages: [user('Hi')] }, { key, headers: { 'x-agent-version': version } });
    expect(server.conversations.requests[0]?.session.draft).toBe(draft);
  });
});

describe('Token usage', () => {
  const COUNTS = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

  test('is reported when the request asks for it', async () => {
    const { body } = await ask({ messages: [user('Hi')], stream_options: { include_usage: true } });
    expect(body.usage).toEqual(COUNTS);
  });

  test('is reported when the project is set to', async () => {
    server.project.reportUsage = true;
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

  test('is in no chunk by default', async () => {
    server.project.reportUsage = true;
    const { text } = await ask({ messages: [user('Hi')], stream: true });
    expect(text).not.toContain('usage');
  });
});

test('Fillers are part of the text; actions are ignored', async () => {
  server.conversations.play(async function* () {
    yield { type: 'action', action: { kind: 'send_dtmf', digits: '1' } };
    yield { type: 'placeholder', text: 'One moment… ' };
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
    server.conversations.play(async function* () {
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
    server.conversations.play(async function* () {
      throw error();
    });
    const answer = await ask({ messages: [user('Hi')], stream });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.body).toMatchObject({ error: expect.any(String), code });
    expect(answer.text).not.toContain('SELECT');
    expect(answer.headers.get('x-session-id')).toBe(server.conversations.requests[0]?.session.sessionId);
  });

  test('midway in a stream is an event, without [DONE]', async () => {
    server.conversations.play(async function* () {
      yield { type: 'text', text: 'Once ' };
      throw new ModelError('model_malformed', 'The model broke off', { beforeFirstToken: false });
    });
    const { status, text } = await ask({ messages: [user('Hi')], stream: true });
    expect(status).toBe(200);
    expect(
      text.endsWith('data: {"error":{"message":"The model broke off","code":"model_malformed"}}\n\n'),
    ).toBe(true);
    expect(text).not.toContain('[DONE]');
    expect(server.logLines).toContainEqual(expect.objectContaining({ msg: 'chat stream failed midway' }));
  });

  test('midway in a whole answer is an error response', async () => {
    server.conversations.play(async function* () {
      yield { type: 'text', text: 'Once ' };
      throw new ModelError('model_malformed', 'The model broke off', { beforeFirstToken: false });
    });
    const { status, body } = await ask({ messages: [user('Hi')] });
    expect(status).toBe(500);
    expect(body).toEqual({ error: 'The model broke off', code: 'model_malformed' });
  });

  test('after the last chunk is only logged', async () => {
    server.conversations.play(async function* () {
      yield done();
      throw new Error('the lock was lost');
    });
    const { text } = await ask({ messages: [user('Hi')], stream: true });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await expect
      .poll(() => server.logLines)
      .toContainEqual(expect.objectContaining({ msg: 'chat stream failed midway' }));
  });
});

test('The legacy path is 410 with its successor after the sunset', async () => {
  server.clock.advance(LEGACY_SUNSET.getTime() - server.clock.now());
  const { status, body } = await ask({ messages: [user('Hi')] }, { path: LEGACY });
  expect(status).toBe(410);
  expect(body).toMatchObject({ code: 'legacy_route_removed', successor: V1 });
  expect((await ask({ messages: [user('Hi')] })).status).toBe(200);
});
