import { describe, expect, it } from 'vitest';
import { createOpenAiEndpoint } from '../../../src/vendors/openai/endpoint.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import {
  type Answer,
  calling,
  chunk,
  done,
  failing,
  saying,
  usageChunk,
} from '../../support/scriptedUpstream.ts';
import { clientOf, forever, KEY, QUESTION, textOf, useChatRig } from './support/chatRig.ts';

const rig = useChatRig();
const { ask, failureOf } = rig;

describe('Chat request', () => {
  it('carries the conversation, the tools and the key', async () => {
    rig.upstream.answerWith({ steps: saying('Hi') });
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
    const [request] = rig.upstream.requests;
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
    rig.upstream.answerWith({ steps: saying('{}') });
    await ask(more);
    expect(rig.upstream.requests[0]?.body.response_format).toEqual(format);
  });

  it('has no tool fields without tools', async () => {
    rig.upstream.answerWith({ steps: saying('Hi') });
    await ask({ tools: [], toolChoice: 'none', parallelToolCalls: true });
    expect(Object.keys(rig.upstream.requests[0]?.body ?? {}).toSorted()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
    ]);
  });

  it('has no authorization without a key', async () => {
    const open = createOpenAiEndpoint({ baseUrl: rig.upstream.baseUrl });
    rig.upstream.answerWith({ steps: saying('Hi') });
    await arrayFromAsync(clientOf(open).stream(QUESTION, forever));
    await open.close();
    expect(rig.upstream.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe('Chat response', () => {
  it('streams text, then the end with usage and model', async () => {
    const pieces = [chunk({ content: 'Good ' }), chunk({ content: 'day' }), chunk({}, 'stop')];
    rig.upstream.answerWith({ steps: [...pieces, usageChunk(9, 2), done] });
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
    rig.upstream.answerWith({ steps: [chunk({ content: 'First' }), 'hang'] });
    const events = rig.model.stream(QUESTION, forever)[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: { type: 'text', text: 'First' } });
    await events.return?.();
    expect(await rig.upstream.requests[0]?.outcome).toBe('client_left');
  });

  it('has tool calls', async () => {
    rig.upstream.answerWith({ steps: calling('look', '{"a"', ':1}') });
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
    [
      'whose last event has no end',
      {
        steps: [
          chunk({ content: 'Hi' }),
          { send: 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}' },
        ],
      },
    ],
    ['with keep-alives', { steps: [{ send: ': ping\n\ndata:\n\n' }, ...saying('Hi')] }],
    ['that is not streamed', { json: { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] } }],
  ])('%s is complete', async (_, answer) => {
    rig.upstream.answerWith(answer);
    const events = await ask();
    expect(textOf(events)).toBe('Hi');
    expect(events.at(-1)).toMatchObject({ type: 'end', finishReason: 'stop' });
  });

  it('leaves its connection for later requests', async () => {
    rig.upstream.answerWith({ steps: saying('Hi') });
    for (let turn = 0; turn < 6; turn++) await ask();
    // A request that follows within the same tick may come before the connection is free.
    expect(rig.upstream.connections).toBeLessThanOrEqual(2);
  });
});

describe('Endpoint that refuses a parameter', () => {
  it('is not sent stream_options again', async () => {
    rig.upstream.answerWith(({ stream_options: options }) =>
      options ? failing(400, 'Unknown field: stream_options') : { steps: saying('Hi') },
    );
    expect(textOf(await ask())).toBe('Hi');
    expect(textOf(await ask())).toBe('Hi');
    expect(rig.upstream.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  });

  it('gets JSON mode in place of a schema', async () => {
    rig.upstream.answerWith(({ response_format: format }) =>
      JSON.stringify(format).includes('json_schema')
        ? failing(422, 'This response_format type is unavailable now')
        : { steps: saying('{}') },
    );
    await ask({ jsonSchema: { name: 'route', schema: { type: 'object' } } });
    await ask({ jsonSchema: { name: 'route', schema: { type: 'object' } } });
    expect(rig.upstream.requests.map(({ body }) => body.response_format)).toEqual([
      { type: 'json_schema', json_schema: { name: 'route', schema: { type: 'object' }, strict: true } },
      { type: 'json_object' },
      { type: 'json_object' },
    ]);
    const told = { role: 'system', content: 'Answer with JSON of this schema: {"type":"object"}' };
    expect(rig.upstream.requests.map(({ body }) => JSON.stringify(body.messages).includes('schema'))).toEqual(
      [false, true, true],
    );
    expect(rig.upstream.requests[2]?.body.messages).toContainEqual(told);
  });

  it.each([
    "Invalid schema for response_format 'data': 'additionalProperties' is required to be supplied and to be false.",
    'The specified schema produces a constraint that has too many states for serving.',
  ])('gets the next schema after one that it refused: %s', async (refusal) => {
    rig.upstream.answerWith(({ response_format: format }) =>
      JSON.stringify(format ?? {}).includes('"data"') ? failing(400, refusal) : { steps: saying('{}') },
    );
    for (const name of ['route', 'data', 'route'])
      await ask({ jsonSchema: { name, schema: { type: 'object' } } });
    expect(rig.upstream.requests.map(({ body }) => Object(body.response_format).type)).toEqual([
      ...['json_schema', 'json_schema', 'json_object', 'json_schema'],
    ]);
  });

  const rules = { role: 'system', content: 'Rules.' } as const;
  const step = { role: 'system', content: 'Step.' } as const;
  const hello = { role: 'assistant', content: 'Hello.' } as const;
  const hi = { role: 'user', content: 'Hi' } as const;
  it.each([
    [
      'the step between messages',
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
    rig.upstream.answerWith((body) =>
      JSON.stringify(body.messages).split('"system"').length > 2
        ? failing(400, 'System message must be at the beginning.')
        : { steps: saying('Hi') },
    );
    expect(textOf(await ask({ messages }))).toBe('Hi');
    await ask({ messages });
    expect(rig.upstream.requests.map(({ body }) => body.messages)).toEqual([messages, folded, folded]);
  });

  it.each([
    [400, 'System message must be at the beginning.'],
    [422, 'Template error: template not found'],
    [500, 'Value is not callable: Jinja Exception: System message must be at the beginning.'],
    [500, 'Conversation roles must alternate user/assistant/user/assistant/...'],
  ])('gets one system message after status %i, %s', async (status, refusal) => {
    rig.upstream.answerWith((body) =>
      JSON.stringify(body.messages).split('"system"').length > 2
        ? failing(status, refusal)
        : { steps: saying('Hi') },
    );
    expect(textOf(await ask({ messages: [rules, hello, step, hi] }))).toBe('Hi');
    await ask({ messages: [rules, hello, step, hi] });
    expect(rig.upstream.requests.at(-1)?.body.messages).toHaveLength(3);
  });

  it('is tried without stream_options when its message names no parameter', async () => {
    const error = await failureOf(failing(400, 'messages are too long'));
    expect(error).toMatchObject({ code: 'model_rejected', retryable: false });
    expect(rig.upstream.requests).toHaveLength(2);
    rig.upstream.answerWith({ steps: saying('Hi') });
    await ask();
    expect(rig.upstream.requests[2]?.body).toHaveProperty('stream_options');
  });

  it('is asked once when it supports every parameter', async () => {
    rig.upstream.answerWith({ steps: saying('Hi') }, failing(400, 'messages are too long'));
    await ask();
    await expect(ask()).rejects.toThrow('messages are too long');
    expect(rig.upstream.requests).toHaveLength(2);
  });
});
