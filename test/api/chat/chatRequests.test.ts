import { describe, expect, test } from 'vitest';
import { DEVELOPER_KEY, READ_ONLY_KEY } from '../../support/httpServer.ts';
import { LEGACY, useChatApi, user, WEATHER } from './support/chatApi.ts';

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

const rig = useChatApi();
const { ask } = rig;

describe('The session of a chat', () => {
  test.each([
    ['the header wins over the body', { 'x-session-id': 'from-header' }, 'from-body', 'from-header'],
    ['the body where there is no header', {}, 'from-body', 'from-body'],
  ])('%s', async (_, headers, session_id, expected) => {
    const answer = await ask({ messages: [user('Hi')], session_id }, { headers });
    expect(answer.body.session_id).toBe(expected);
    expect(answer.headers.get('x-session-id')).toBe(expected);
    expect(rig.server.conversations.requests[0]?.session.sessionId).toBe(expected);
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
    expect(rig.server.conversations.requests).toEqual([]);
  });

  test('can have an id of 255 emoji', async () => {
    const session_id = '🙂'.repeat(255);
    expect((await ask({ messages: [user('Hi')], session_id })).body.session_id).toBe(session_id);
  });
});

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
  expect(rig.server.conversations.requests[0]?.request).toEqual({
    digest: expect.any(String),
    input: { kind: 'user_message', text: 'Hi' },
    isWhole: true,
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
  expect(rig.server.conversations.requests[0]?.request.responseFormat).toEqual({
    type: 'json_schema',
    json_schema: given,
  });
});

test('A response_format of text is the default', async () => {
  await ask({ messages: [user('Hi')], response_format: { type: 'text' } });
  expect(rig.server.conversations.requests[0]?.request).toEqual({
    digest: expect.any(String),
    input: { kind: 'user_message', text: 'Hi' },
    isWhole: true,
  });
});

test('The request of a voice platform is taken: counters in metadata, objects, and what it knows besides', async () => {
  const { status } = await ask({
    messages: [user('Hi')],
    call: { id: 'c-1' },
    timestamp: 1_790_000_000_000,
    user: 7,
    metadata: { numUserTurns: 2, isTest: false, tags: ['a'], long: 'x'.repeat(600), none: null },
  });
  expect(status).toBe(200);
  expect(rig.server.conversations.requests[0]?.request.passthrough).toEqual({
    user: '7',
    metadata: { numUserTurns: '2', isTest: 'false', long: 'x'.repeat(512) },
  });
});

test.each([
  ['a system message', [{ role: 'system', content: 'Greet the caller.' }]],
  ['a developer message', [{ role: 'developer', content: 'Greet the caller.' }]],
  [
    'an instruction after a conversation',
    [user('Hi'), { role: 'assistant', content: 'Hello' }, { role: 'system', content: 'Say more.' }],
  ],
])('The agent speaks unasked where the last message is %s', async (_, messages) => {
  expect((await ask({ messages })).status).toBe(200);
  expect(rig.server.conversations.requests[0]?.request.input).toEqual({ kind: 'begin' });
});

test('Only the allowed tools are offered', async () => {
  const other = { type: 'function', function: { name: 'other' } };
  const named = { type: 'function', function: { name: 'other' } };
  const allowed_tools = { mode: 'required', tools: [named] };
  const tool_choice = { type: 'allowed_tools', allowed_tools };
  await ask({ messages: [user('Hi')], tools: [WEATHER, other], tool_choice });
  expect(rig.server.conversations.requests[0]?.request).toMatchObject({
    callerTools: [{ name: 'other' }],
    toolChoice: 'required',
  });
});

test('Messages of older clients and refusals are part of the conversation', async () => {
  await ask({
    messages: [
      user('Hi'),
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] },
      user('Please.'),
      { role: 'assistant', content: null, refusal: 'No.' },
      user('And now?'),
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'nine' },
    ],
  });
  const { input, history } = rig.server.conversations.requests[0]?.request ?? {};
  expect(history?.map(({ content }) => content)).toEqual([
    'Hi',
    'I cannot.',
    'Please.',
    'No.',
    'And now?',
    null,
  ]);
  const toolCallId = history?.at(-1)?.tool_calls?.[0]?.id;
  expect(input).toEqual({
    kind: 'tool_results',
    results: [{ toolCallId, name: 'look', content: 'nine' }],
  });
});

test('A compressed body is 415, not taken for broken JSON', async () => {
  const answer = await ask({ messages: [user('Hi')] }, { headers: { 'content-encoding': 'gzip' } });
  expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_content_encoding']);
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
    [
      'an allowed tool that there is not',
      {
        messages: [USER],
        tools: [WEATHER],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'x' } }] },
        },
      },
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
    expect(rig.server.conversations.requests).toEqual([]);
  });

  test.each([
    [
      'an assistant message at the end',
      [user('Hi'), { role: 'assistant', content: 'Hello' }],
      'nothing_to_answer',
    ],
    [
      'a result of no call',
      [user('Hi'), { role: 'tool', tool_call_id: 'x', content: '' }],
      'unknown_tool_call',
    ],
  ])('%s', async (_, messages, code) => {
    const answer = await ask({ messages, stream: true });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe(code);
    expect(rig.server.conversations.created).toEqual([]);
  });

  test('Over 2,048 messages are 400, also where one of them is wrong', async () => {
    const most = Array.from({ length: 2_048 }, () => user('Hi.'));
    expect((await ask({ messages: most })).status).toBe(200);
    for (const messages of [
      [...most, user('Hi.')],
      [...most, {}],
    ]) {
      const { status, body } = await ask({ messages });
      expect([status, body]).toMatchObject([400, { details: [{ path: '/messages' }] }]);
    }
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
    ['another version', DEVELOPER_KEY, 'published', false],
  ])('handles X-Agent-Version with %s', async (_, key, version, draft) => {
    await ask({ messages: [user('Hi')] }, { key, headers: { 'x-agent-version': version } });
    expect(rig.server.conversations.requests[0]?.session.draft).toBe(draft);
  });

  test.each(['draft', 'Draft'])('refuses X-Agent-Version: %s with a secret key', async (version) => {
    const answer = await ask({ messages: [user('Hi')] }, { headers: { 'x-agent-version': version } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'developer_key_required' } });
    expect(rig.server.conversations.requests).toEqual([]);
  });
});
