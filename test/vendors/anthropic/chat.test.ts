import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { createChatClient } from '../../../src/models/chat/chatClient.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { createChat } from '../../../src/vendors/anthropic/provider.ts';
import { createGoogleChat } from '../../../src/vendors/openai/provider.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

const KEY = 'sk-ant-secret';
const requests: { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
let answer: (response: ServerResponse) => void = () => undefined;
let closed = 0;
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (data) => {
    text += data;
  });
  response.on('close', () => {
    if (!response.writableFinished) closed += 1;
  });
  request.on('end', () => {
    requests.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
    answer(response);
  });
});
let baseUrl = '';
let close: () => Promise<void>;
beforeAll(async () => {
  const listening = await listenOnLoopback(server);
  baseUrl = `http://127.0.0.1:${listening.port}`;
  close = listening.close;
});
afterAll(() => close());

const event = (data: { type: string; [field: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const START = event({
  type: 'message_start',
  message: {
    model: 'claude-x-1',
    usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 },
  },
});
const block = (index: number, content_block: object, ...deltas: object[]) =>
  [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('');
const text = (...parts: string[]) =>
  block(0, { type: 'text', text: '' }, ...parts.map((part) => ({ type: 'text_delta', text: part })));
const input = (index: number, name: string, ...parts: string[]) =>
  block(
    index,
    { type: 'tool_use', id: `call-${index}`, name, input: {} },
    ...parts.map((part_json) => ({ type: 'input_json_delta', partial_json: part_json })),
  );
const stop = (stop_reason: string) =>
  event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } }) +
  event({ type: 'message_stop' });
const streams =
  (...parts: string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(parts.join(''));
  };
const fails =
  (status: number, type: string, headers = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ type: 'error', error: { type, message: `no, ${KEY}` } }));
  };

function ask(request: Partial<ChatRequest> = {}, signal = new AbortController().signal) {
  requests.length = 0;
  const options = {
    clock: systemClock,
    timeoutMs: 3000,
    searchPath: '',
    warn: () => undefined,
    onRefused: () => undefined,
  };
  const provider = createChat({ ...options, credentials: { apiKey: KEY, baseUrl }, makeId: uuidV7 });
  const messages = request.messages ?? [{ role: 'user' as const, content: 'Hello' }];
  return createChatClient(provider, options).stream({ model: 'claude-x', ...request, messages }, signal);
}

test('An answer streams, with its tokens and those that were cached', async () => {
  answer = streams(START, event({ type: 'ping' }), text('Good ', 'day.'), stop('end_turn'));
  const usage = { promptTokens: 100, completionTokens: 7, totalTokens: 107, cachedTokens: 90 };
  expect(await arrayFromAsync(ask())).toEqual([
    { type: 'text', text: 'Good ' },
    { type: 'text', text: 'day.' },
    { type: 'end', finishReason: 'stop', model: 'claude-x-1', usage },
  ]);
});

test('A request has the conversation as the API wants it', async () => {
  answer = streams(START, text('Well.'), stop('end_turn'));
  const messages: ChatRequest['messages'] = [
    { role: 'system', content: 'Be kind.' },
    { role: 'assistant', content: 'Welcome.' },
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: null, toolCalls: [{ id: 'c1', name: 'look', arguments: '{"at":1}' }] },
    { role: 'tool', toolCallId: 'c1', content: 'seen' },
    { role: 'system', content: 'Be short.' },
  ];
  const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }, { name: 'go' }];
  const more = {
    temperature: 1.5,
    maxOutputTokens: 50,
    parallelToolCalls: false,
    toolChoice: 'required',
  } as const;
  const passthrough = { stop: 'x', user: 'u', reasoning_effort: 'low', seed: 7 };
  await arrayFromAsync(ask({ messages, tools, ...more, passthrough }));
  const [request] = requests;
  expect([request?.path, request?.headers['x-api-key']]).toEqual(['/v1/messages', KEY]);
  expect(request?.body).toEqual({
    model: 'claude-x',
    max_tokens: 50,
    stream: true,
    system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: '[The conversation begins.]' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Welcome.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Where is it?' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'seen' },
          { type: 'text', text: '<instructions>\nBe short.\n</instructions>' },
        ],
      },
    ],
    temperature: 1,
    tools: [
      { name: 'look', description: 'Looks', input_schema: { type: 'object' } },
      { name: 'go', input_schema: { type: 'object', properties: {} } },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    stop_sequences: ['x'],
    metadata: { user_id: 'u' },
    output_config: { effort: 'low' },
  });
});

test('Tool calls stream in parts, beside words', async () => {
  answer = streams(
    START,
    text('One moment.'),
    input(1, 'look', '{"at"', ':1}'),
    input(2, 'go'),
    stop('tool_use'),
  );
  const events = await arrayFromAsync(ask({ tools: [{ name: 'look' }, { name: 'go' }] }));
  expect(events.filter(({ type }) => type !== 'end')).toEqual([
    { type: 'text', text: 'One moment.' },
    { type: 'tool_call_delta', index: 0, id: 'call-1', name: 'look', argumentsDelta: '' },
    { type: 'tool_call_delta', index: 0, argumentsDelta: '{"at"' },
    { type: 'tool_call_delta', index: 0, argumentsDelta: ':1}' },
    { type: 'tool_call', index: 0, id: 'call-1', name: 'look', arguments: '{"at":1}' },
    { type: 'tool_call_delta', index: 1, id: 'call-2', name: 'go', argumentsDelta: '' },
    { type: 'tool_call', index: 1, id: 'call-2', name: 'go', arguments: '{}' },
  ]);
  expect(events.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
});

test('An answer of more than 128 tool calls fails', async () => {
  const calls = Array.from({ length: 129 }, (_, index) => input(index, 'look'));
  answer = streams(START, ...calls.slice(0, 128), stop('tool_use'));
  const events = await arrayFromAsync(ask());
  expect(events.filter(({ type }) => type === 'tool_call').length).toBe(128);
  answer = streams(START, ...calls, stop('tool_use'));
  await expect(arrayFromAsync(ask())).rejects.toThrow('does not end');
});

test('JSON of a schema is the format of the answer, beside tools and an effort', async () => {
  answer = streams(START, text('{"edge":', '"a"}'), stop('end_turn'));
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  const passthrough = { reasoning_effort: 'low' };
  const events = await arrayFromAsync(
    ask({ jsonSchema: { name: 'route', schema }, tools: [{ name: 'look' }], passthrough }),
  );
  expect(requests[0]?.body).toMatchObject({
    tools: [{ name: 'look' }],
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  });
  expect(events.map((one) => (one.type === 'text' ? one.text : one.type))).toEqual([
    '{"edge":',
    '"a"}',
    'end',
  ]);
});

test('JSON without a schema is asked for in words', async () => {
  answer = streams(START, text('{}'), stop('end_turn'));
  await arrayFromAsync(ask({ responseFormat: { type: 'json_object' } }));
  expect(requests[0]?.body).not.toHaveProperty('output_config');
  expect(JSON.stringify(requests[0]?.body.messages)).toContain('Answer with one JSON object');
});

test.each([
  ['a wrong key', fails(401, 'authentication_error'), 'model_rejected', 1],
  ['an unknown model', fails(404, 'not_found_error'), 'model_rejected', 1],
  ['a bad request', fails(400, 'invalid_request_error'), 'model_rejected', 1],
  ['a rate limit', fails(429, 'rate_limit_error', { 'retry-after': '9' }), 'model_unavailable', 1],
  ['an overload', fails(529, 'overloaded_error'), 'model_unavailable', 2],
  ['garbage', streams('data: {"type"\n\n'), 'model_malformed', 2],
  ['an answer that breaks off', streams(START, text('Well')), 'model_malformed', 1],
  [
    'a failure in the middle',
    streams(START, text('Well'), event({ type: 'error', error: { type: 'overloaded_error', message: KEY } })),
    'model_unavailable',
    1,
  ],
] as const)('%s fails as it should, without the key', async (_, scripted, code, attempts) => {
  answer = scripted;
  const failure = await arrayFromAsync(ask()).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code });
  expect(String(failure)).not.toContain(KEY);
  expect(requests).toHaveLength(attempts);
});

test('A reader that leaves ends the request', async () => {
  const before = closed;
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(START + text('Well'));
  };
  const abort = new AbortController();
  for await (const _event of ask({}, abort.signal)) break;
  await expect.poll(() => closed).toBe(before + 1);
});

test('Google’s compatible endpoint has its path, its name, and signatures of thoughts', async () => {
  answer = streams(
    `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  );
  requests.length = 0;
  const options = {
    clock: systemClock,
    timeoutMs: 3000,
    searchPath: '',
    warn: () => undefined,
    onRefused: () => undefined,
  };
  const provider = createGoogleChat({ ...options, credentials: { apiKey: KEY, baseUrl }, makeId: uuidV7 });
  const call = { id: 'c1', name: 'look', arguments: '{}' };
  const messages = [
    { role: 'assistant', content: null, toolCalls: [call] },
    { role: 'tool', toolCallId: 'c1', content: 'seen' },
  ] as const;
  const { signal } = new AbortController();
  await arrayFromAsync(createChatClient(provider, options).stream({ model: 'gemini-x', messages }, signal));
  expect([provider.name, requests[0]?.path]).toEqual(['google', '/v1beta/openai/chat/completions']);
  expect(JSON.stringify(requests[0]?.body)).toContain(
    '"thought_signature":"skip_thought_signature_validator"',
  );
});
