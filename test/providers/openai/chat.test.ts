import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { createOpenAiChat } from '../../../src/providers/openai/chat.ts';
import { createOpenAiEndpoint, type OpenAiEndpoint } from '../../../src/providers/openai/endpoint.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../src/providers/ports/chatModel.ts';
import { ModelError } from '../../../src/providers/ports/modelError.ts';
import { createChatClient } from '../../../src/providers/streamWithRetry.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import {
  type Answer,
  calling,
  chunk,
  done,
  failing,
  type ScriptedUpstream,
  saying,
  startScriptedUpstream,
  usageChunk,
} from '../../support/scriptedUpstream.ts';

const KEY = 'sk-test-0123456789abcdef';
const QUESTION: ChatRequest = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] };
const forever = new AbortController().signal;

/** Timers run 20 times as fast. */
const clock: Clock = {
  ...systemClock,
  setTimer: (callback, delayMs) => systemClock.setTimer(callback, delayMs / 20),
};
const clientOf = (endpoint: OpenAiEndpoint) =>
  createChatClient(createOpenAiChat({ endpoint, makeId: () => 'made' }), {
    clock,
    timeoutMs: 60_000,
  });

let upstream: ScriptedUpstream;
let endpoint: OpenAiEndpoint;
let model: ChatModel;

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  endpoint = createOpenAiEndpoint({ apiKey: KEY, baseUrl: upstream.baseUrl });
  model = clientOf(endpoint);
});

afterEach(async () => {
  await endpoint.close();
  await upstream.close();
});

async function ask(request: Partial<ChatRequest> = {}, signal = forever): Promise<ChatEvent[]> {
  return arrayFromAsync(model.stream({ ...QUESTION, ...request }, signal));
}

async function failureOf(...answers: readonly Answer[]): Promise<ModelError> {
  upstream.answerWith(...answers);
  const error: unknown = await ask().catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelError)) throw new Error('expected a ModelError', { cause: error });
  return error;
}

const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');

describe('Chat request', () => {
  it('carries the conversation, the tools and the key', async () => {
    upstream.answerWith({ steps: saying('Hi') });
    await ask({
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: null, toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'c1', content: 'seen' },
        { role: 'assistant', content: 'Well.' },
      ],
      tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }, { name: 'go' }],
      toolChoice: { name: 'look' },
      parallelToolCalls: false,
      temperature: 0.2,
      maxOutputTokens: 50,
      passthrough: { seed: 7, stop: ['x'], stream: false, n: 3, model: 'other' },
    });
    const [request] = upstream.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.body).toEqual({
      model: 'gpt-x',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen' },
        { role: 'assistant', content: 'Well.' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: { type: 'object' } },
        },
        { type: 'function', function: { name: 'go', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      parallel_tool_calls: false,
      temperature: 0.2,
      max_tokens: 50,
      seed: 7,
      stop: ['x'],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it.each([
    ['as the client asks', { responseFormat: { type: 'json_object' as const } }, { type: 'json_object' }],
    [
      'by the client’s schema',
      {
        responseFormat: {
          type: 'json_schema' as const,
          json_schema: { name: 'day', schema: { type: 'object' }, strict: false },
        },
      },
      { type: 'json_schema', json_schema: { name: 'day', schema: { type: 'object' }, strict: false } },
    ],
    [
      'by jsonSchema first',
      { jsonSchema: { name: 'route', schema: {} }, responseFormat: { type: 'json_object' as const } },
      { type: 'json_schema', json_schema: { name: 'route', schema: {}, strict: true } },
    ],
  ])('sets response_format %s', async (_name, more, format) => {
    upstream.answerWith({ steps: saying('{}') });
    await ask(more);
    expect(upstream.requests[0]?.body.response_format).toEqual(format);
  });

  it('has no tool fields without tools', async () => {
    upstream.answerWith({ steps: saying('Hi') });
    await ask({ tools: [], toolChoice: 'none', parallelToolCalls: true });
    expect(Object.keys(upstream.requests[0]?.body ?? {}).toSorted()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
    ]);
  });

  it('has no authorization without a key', async () => {
    const open = createOpenAiEndpoint({ baseUrl: upstream.baseUrl });
    upstream.answerWith({ steps: saying('Hi') });
    await arrayFromAsync(clientOf(open).stream(QUESTION, forever));
    await open.close();
    expect(upstream.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe('Chat response', () => {
  it('streams text, then the end with usage and model', async () => {
    const pieces = [chunk({ content: 'Good ' }), chunk({ content: 'day' }), chunk({}, 'stop')];
    upstream.answerWith({ steps: [...pieces, usageChunk(9, 2), done] });
    expect(await ask()).toEqual([
      { type: 'text', text: 'Good ' },
      { type: 'text', text: 'day' },
      {
        type: 'end',
        finishReason: 'stop',
        model: 'scripted-1',
        usage: { promptTokens: 9, completionTokens: 2, totalTokens: 11 },
      },
    ]);
  });

  it('is passed on before it ends', async () => {
    upstream.answerWith({ steps: [chunk({ content: 'First' }), 'hang'] });
    const events = model.stream(QUESTION, forever)[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: { type: 'text', text: 'First' } });
    await events.return?.();
    expect(await upstream.requests[0]?.outcome).toBe('client_left');
  });

  it('has tool calls', async () => {
    upstream.answerWith({ steps: calling('look', '{"a"', ':1}') });
    expect((await ask()).at(-2)).toEqual({
      type: 'tool_call',
      index: 0,
      id: 'call_look',
      name: 'look',
      arguments: '{"a":1}',
    });
  });

  it.each<[string, Answer]>([
    ['without [DONE]', { steps: [chunk({ content: 'Hi' }), chunk({}, 'stop')] }],
    ['without a finish reason', { steps: [chunk({ content: 'Hi' }), done] }],
    ['whose response never ends', { steps: [...saying('Hi'), 'hang'] }],
    ['that hangs before [DONE]', { steps: [chunk({ content: 'Hi' }), chunk({}, 'stop'), 'hang'] }],
    [
      'that breaks after its finish reason',
      { steps: [chunk({ content: 'Hi' }), chunk({}, 'stop'), { waitMs: 20 }, 'reset'] },
    ],
    ['with keep-alives', { steps: [{ send: ': ping\n\ndata:\n\n' }, ...saying('Hi')] }],
    ['that is not streamed', { json: { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] } }],
  ])('%s is complete', async (_, answer) => {
    upstream.answerWith(answer);
    const events = await ask();
    expect(textOf(events)).toBe('Hi');
    expect(events.at(-1)).toMatchObject({ type: 'end', finishReason: 'stop' });
  });

  it('leaves its connection for later requests', async () => {
    upstream.answerWith({ steps: saying('Hi') });
    for (let turn = 0; turn < 6; turn++) await ask();
    // A request that follows within the same tick may come before the connection is free.
    expect(upstream.connections).toBeLessThanOrEqual(2);
  });
});

describe('Endpoint that refuses a parameter', () => {
  it('is not sent stream_options again', async () => {
    upstream.answerWith(({ stream_options: options }) =>
      options ? failing(400, 'Unknown field: stream_options') : { steps: saying('Hi') },
    );
    expect(textOf(await ask())).toBe('Hi');
    expect(textOf(await ask())).toBe('Hi');
    expect(upstream.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  });

  it('gets JSON mode in place of a schema', async () => {
    upstream.answerWith(({ response_format: format }) =>
      JSON.stringify(format).includes('json_schema')
        ? failing(422, 'This response_format type is unavailable now')
        : { steps: saying('{}') },
    );
    await ask({ jsonSchema: { name: 'route', schema: { type: 'object' } } });
    await ask({ jsonSchema: { name: 'route', schema: { type: 'object' } } });
    expect(upstream.requests.map(({ body }) => body.response_format)).toEqual([
      { type: 'json_schema', json_schema: { name: 'route', schema: { type: 'object' }, strict: true } },
      { type: 'json_object' },
      { type: 'json_object' },
    ]);
    const told = { role: 'system', content: 'Answer with JSON of this schema: {"type":"object"}' };
    expect(upstream.requests.map(({ body }) => JSON.stringify(body.messages).includes('schema'))).toEqual([
      false,
      true,
      true,
    ]);
    expect(upstream.requests[2]?.body.messages).toContainEqual(told);
  });

  const rules = { role: 'system', content: 'Rules.' } as const;
  const step = { role: 'system', content: 'Step.' } as const;
  const hello = { role: 'assistant', content: 'Hello.' } as const;
  const hi = { role: 'user', content: 'Hi' } as const;
  it.each([
    [
      'the step among the talk',
      [rules, hello, step, hi],
      [{ role: 'system', content: 'Rules.\n\nStep.' }, hello, hi],
    ],
    ['a question after words', [rules, hi, step], [rules, { role: 'user', content: 'Hi\n\nStep.' }]],
    [
      'a question after an answer',
      [rules, hi, hello, step],
      [rules, hi, hello, { role: 'user', content: 'Step.' }],
    ],
    [
      'two messages of the person in a row',
      [rules, hi, step, hi],
      [
        { role: 'system', content: 'Rules.\n\nStep.' },
        { role: 'user', content: 'Hi\n\nHi' },
      ],
    ],
    ['a step before all words', [rules, step], [rules, { role: 'user', content: 'Step.' }]],
  ])('gets one system message: %s', async (_name, messages, folded) => {
    upstream.answerWith((body) =>
      JSON.stringify(body.messages).split('"system"').length > 2
        ? failing(400, 'System message must be at the beginning.')
        : { steps: saying('Hi') },
    );
    expect(textOf(await ask({ messages }))).toBe('Hi');
    await ask({ messages });
    expect(upstream.requests.map(({ body }) => body.messages)).toEqual([messages, folded, folded]);
  });

  it.each([
    [400, 'System message must be at the beginning.'],
    [422, 'Template error: template not found'],
    [500, 'Value is not callable: Jinja Exception: System message must be at the beginning.'],
    [500, 'Conversation roles must alternate user/assistant/user/assistant/...'],
  ])('gets one system message after status %i, %s', async (status, refusal) => {
    upstream.answerWith((body) =>
      JSON.stringify(body.messages).split('"system"').length > 2
        ? failing(status, refusal)
        : { steps: saying('Hi') },
    );
    expect(textOf(await ask({ messages: [rules, hello, step, hi] }))).toBe('Hi');
    await ask({ messages: [rules, hello, step, hi] });
    expect(upstream.requests.at(-1)?.body.messages).toHaveLength(3);
  });

  it('is tried without stream_options when its message names no parameter', async () => {
    const error = await failureOf(failing(400, 'messages are too long'));
    expect(error).toMatchObject({ code: 'model_rejected', retryable: false });
    expect(upstream.requests).toHaveLength(2);
    upstream.answerWith({ steps: saying('Hi') });
    await ask();
    expect(upstream.requests[2]?.body).toHaveProperty('stream_options');
  });

  it('is asked once when it supports every parameter', async () => {
    upstream.answerWith({ steps: saying('Hi') }, failing(400, 'messages are too long'));
    await ask();
    await expect(ask()).rejects.toThrow('messages are too long');
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('Chat failure before the first token', () => {
  it.each<[string, Answer, Partial<ModelError>]>([
    ['a wrong key', failing(401, `Incorrect API key: ${KEY}`), { code: 'model_rejected', retryable: false }],
    ['an unknown model', failing(404, 'no such model'), { code: 'model_rejected', retryable: false }],
    ['a server error', failing(500, 'oops'), { code: 'model_unavailable', retryable: true }],
    ['an overload', failing(503, 'busy'), { code: 'model_unavailable', retryable: true }],
    [
      'too many requests',
      { ...failing(429, 'slow down'), headers: { 'retry-after': '7' } },
      { code: 'model_unavailable', retryable: true, retryAfterSeconds: 7 },
    ],
    [
      'too many requests, in milliseconds',
      { ...failing(429, 'slow down'), headers: { 'retry-after-ms': '250' } },
      { code: 'model_unavailable', retryable: true, retryAfterSeconds: 0.25 },
    ],
    [
      'an account that is used up',
      failing(429, 'pay', 'insufficient_quota'),
      { code: 'model_unavailable', retryable: false },
    ],
    ['a reset', { instead: 'reset' }, { code: 'model_unavailable', retryable: true }],
    [
      'a stream that is cut',
      { steps: [{ waitMs: 10 }, 'reset'] },
      { code: 'model_unavailable', retryable: true },
    ],
    ['an empty stream', { steps: [] }, { code: 'model_malformed', retryable: true }],
    ['an empty document', { json: {} }, { code: 'model_malformed', retryable: true }],
    ['a stream of nothing', { steps: [done] }, { code: 'model_malformed', retryable: true }],
    [
      'broken JSON',
      { steps: [{ send: 'data: {"choices"\n\n' }] },
      { code: 'model_malformed', retryable: true },
    ],
    ['a page', { steps: [{ send: '<html></html>' }] }, { code: 'model_malformed', retryable: true }],
    [
      'an error in the stream',
      { steps: [{ chunk: { error: { message: 'overloaded', code: 503 } } }] },
      { code: 'model_unavailable', retryable: true },
    ],
    [
      'a refusal in the stream',
      { steps: [{ chunk: { error: { message: 'too long', code: 400 } } }] },
      { code: 'model_rejected', retryable: false },
    ],
  ])('is mapped: %s', async (_, answer, expected) => {
    expect(await failureOf(answer)).toMatchObject({ ...expected, beforeFirstToken: true });
  });

  it('names the system’s error code when the connection is refused', async () => {
    await upstream.close();
    const error = await failureOf({});
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });
});

describe('Chat failure after the first token', () => {
  it.each<[string, Answer, Partial<ModelError>]>([
    [
      'a reset',
      { steps: [chunk({ content: 'Hi' }), { waitMs: 50 }, 'reset'] },
      { code: 'model_unavailable' },
    ],
    ['a stream that stops', { steps: [chunk({ content: 'Hi' })] }, { code: 'model_malformed' }],
    [
      'broken JSON',
      { steps: [chunk({ content: 'Hi' }), { send: 'data: {\n\n' }] },
      { code: 'model_malformed' },
    ],
    [
      'an error',
      { steps: [chunk({ content: 'Hi' }), { chunk: { error: 'gone' } }] },
      { code: 'model_unavailable' },
    ],
  ])('is thrown after the text: %s', async (_, answer, expected) => {
    upstream.answerWith(answer);
    const texts: string[] = [];
    const read = async () => {
      for await (const event of model.stream(QUESTION, forever))
        if (event.type === 'text') texts.push(event.text);
    };
    await expect(read()).rejects.toMatchObject({ ...expected, beforeFirstToken: false });
    expect(texts).toEqual(['Hi']);
  });
});

describe('API key in an error', () => {
  it.each<[string, Answer]>([
    ['a refusal', failing(400, `stream_options with ${KEY}`)],
    ['a forbidden model', failing(403, `Key ${KEY} may not`)],
    [
      'an error in the stream',
      { steps: [{ chunk: { error: { message: `Bearer ${KEY} failed`, code: 400 } } }] },
    ],
  ])('is redacted from %s', async (_, answer) => {
    const error = await failureOf(answer);
    const shown = JSON.stringify([error.message, error.stack, String(error.cause), { ...error }]);
    expect(error.message).toContain('[redacted]');
    expect(shown).not.toContain(KEY);
  });
});

describe('Chat abort', () => {
  it('before the request sends none', async () => {
    await expect(ask({}, AbortSignal.abort('gone'))).rejects.toBe('gone');
    expect(upstream.requests).toHaveLength(0);
  });

  it.each<[string, Answer]>([
    ['before the response', { instead: 'hang' }],
    ['in the middle of it', { steps: [chunk({ content: 'Hi' }), 'hang'] }],
  ])('%s rejects the read with its reason and ends the request', async (_, answer) => {
    upstream.answerWith(answer);
    const aborting = new AbortController();
    const asked = ask({}, aborting.signal).catch((error: unknown) => error);
    while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new Error('the caller hung up');
    aborting.abort(reason);
    expect(await asked).toBe(reason);
    expect(await upstream.requests[0]?.outcome).toBe('client_left');
  });
});
