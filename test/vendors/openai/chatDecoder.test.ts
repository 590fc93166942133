import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/models/ports/chatModel.ts';
import { ChatDecoder } from '../../../src/vendors/openai/chatDecoder.ts';

function decoder() {
  let made = 0;
  const makeId = () => `made-${++made}`;
  const endpoint = { redact: (text: string) => text };
  return new ChatDecoder([], { endpoint, makeId, requestedModel: 'asked-for' });
}

const data = (chunk: unknown) => ({ data: JSON.stringify(chunk) });

function read(...chunks: readonly unknown[]): ChatEvent[] {
  const answer = decoder();
  const events = chunks.flatMap((chunk) => answer.decode(data(chunk)));
  return [...events, ...answer.decode({ data: '[DONE]' }), ...answer.finish()];
}

const delta = (fields: object, finishReason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finishReason }],
});
const call = (...pieces: readonly object[]) => delta({ tool_calls: pieces });
const wholeCalls = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [[event.id, event.name, event.arguments]] : []));

describe('Text', () => {
  it.each<[string, object[], string[]]>([
    ['fragments as they come', [delta({ content: 'Good ' }), delta({ content: 'day' })], ['Good ', 'day']],
    ['no empty or null content', [delta({ role: 'assistant', content: '' }), delta({ content: null })], []],
    ['chunks without choices', [{ choices: [] }, {}, delta({ content: 'a' })], ['a']],
    ['content in parts', [delta({ content: [{ type: 'text', text: 'a' }, { type: 'thinking' }] })], ['a']],
    ['a refusal', [delta({ refusal: 'I cannot' })], ['I cannot']],
    ['a whole message', [{ choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] }], ['a']],
    [
      'a pair of surrogates in two halves',
      [delta({ content: 'a\ud83d' }), delta({ content: '\ude00b' })],
      ['a', '😀b'],
    ],
    ['a half that stays alone', [delta({ content: 'a\ud83d' }), delta({ content: 'b' })], ['a', '\ufffdb']],
    ['a half at the end', [delta({ content: 'a\ud83d' }, 'stop')], ['a', '\ufffd']],
    ['a NUL character', [delta({ content: 'a\0b' })], ['a\ufffdb']],
    ['content of an odd type', [delta({ content: 7 })], []],
    [
      'one of several choices',
      [
        {
          choices: [
            { index: 1, delta: { content: 'b' } },
            { index: 0, delta: { content: 'a' } },
          ],
        },
      ],
      ['a'],
    ],
  ])('reads %s', (_, chunks, texts) => {
    const events = read(...chunks);
    expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(texts);
  });

  it.each([
    [null],
    ['text'],
    [[]],
    [7],
    [{ choices: 'none' }],
    [{ choices: [null] }],
    [delta({ tool_calls: [7, null] })],
  ])('ignores the chunk %j', (chunk) => {
    expect(read(chunk, delta({}))).toEqual([{ type: 'end', finishReason: 'stop', model: 'asked-for' }]);
  });
});

describe('Tool calls', () => {
  const one = [['c1', 'look', '{"a":1}']];
  it.each<[string, object[], unknown[]]>([
    [
      'pieces as OpenAI sends them',
      [
        call({ index: 0, id: 'c1', function: { name: 'look', arguments: '' } }),
        call({ index: 0, function: { arguments: '{"a"' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
      ],
      one,
    ],
    [
      'pieces without an index',
      [
        call({ id: 'c1', function: { name: 'look', arguments: '{"a"' } }),
        call({ function: { arguments: ':1}' } }),
      ],
      one,
    ],
    [
      'id and name again in every piece',
      [
        call({ index: 0, id: 'c1', function: { name: 'look', arguments: '{"a"' } }),
        call({ index: 0, id: 'c1', function: { name: 'look', arguments: ':1}' } }),
      ],
      one,
    ],
    [
      'a name in pieces',
      [
        call({ index: 0, id: 'c1', function: { name: 'lo' } }),
        call({ index: 0, function: { name: 'ok' } }),
        call({ index: 0, function: { arguments: '{"a":1}' } }),
      ],
      one,
    ],
    [
      'arguments as an object',
      [call({ index: 0, id: 'c1', function: { name: 'look', arguments: { a: 1 } } })],
      one,
    ],
    [
      'two calls in turn',
      [
        call({ index: 0, id: 'c1', function: { name: 'look', arguments: '{}' } }),
        call({ index: 1, id: 'c2', function: { name: 'go', arguments: '{' } }),
        call({ index: 1, function: { arguments: '}' } }),
      ],
      [
        ['c1', 'look', '{}'],
        ['c2', 'go', '{}'],
      ],
    ],
    [
      'two calls interleaved',
      [
        call(
          { index: 0, id: 'c1', function: { name: 'look' } },
          { index: 1, id: 'c2', function: { name: 'go' } },
        ),
        call(
          { index: 1, function: { arguments: '{"b":2}' } },
          { index: 0, function: { arguments: '{"a":1}' } },
        ),
      ],
      [
        ['c1', 'look', '{"a":1}'],
        ['c2', 'go', '{"b":2}'],
      ],
    ],
    [
      'two calls that share index 0',
      [
        call({ index: 0, id: 'c1', function: { name: 'look', arguments: '{}' } }),
        call({ index: 0, id: 'c2', function: { name: 'look', arguments: '{}' } }),
      ],
      [
        ['c1', 'look', '{}'],
        ['c2', 'look', '{}'],
      ],
    ],
    [
      'a call without arguments',
      [call({ index: 0, id: 'c1', function: { name: 'look' } })],
      [['c1', 'look', '{}']],
    ],
    [
      'a call without an id',
      [call({ index: 0, function: { name: 'look', arguments: '{"a":1}' } })],
      [['call_made1', 'look', '{"a":1}']],
    ],
    ['arguments that belong to no call', [call({ index: 3, function: { arguments: '{}' } })], []],
  ])('reads %s', (_, chunks, calls) => {
    const events = read(...chunks, delta({}, 'tool_calls'));
    expect(wholeCalls(events)).toEqual(calls);
  });

  it('have id and name in the first delta only', () => {
    const events = read(
      call({ index: 4, id: 'c1', function: { name: 'look', arguments: '{"a"' } }),
      call({ index: 4, function: { arguments: ':1}' } }),
      delta({}, 'tool_calls'),
    );
    expect(events).toEqual([
      { type: 'tool_call_delta', index: 0, id: 'c1', name: 'look', argumentsDelta: '{"a"' },
      { type: 'tool_call_delta', index: 0, argumentsDelta: ':1}' },
      { type: 'tool_call', index: 0, id: 'c1', name: 'look', arguments: '{"a":1}' },
      { type: 'end', finishReason: 'tool_calls', model: 'asked-for' },
    ]);
  });

  it('are complete with the finish reason, before the usage', () => {
    const answer = decoder();
    answer.decode(data(call({ index: 0, id: 'c1', function: { name: 'look', arguments: '{}' } })));
    expect(wholeCalls(answer.decode(data(delta({}, 'tool_calls'))))).toHaveLength(1);
    expect(wholeCalls(answer.finish())).toEqual([]);
  });
});

describe('End event', () => {
  const calls = call({ index: 0, id: 'c1', function: { name: 'look' } });
  it.each<[string, object[], string]>([
    ['stop', [delta({}, 'stop')], 'stop'],
    ['length', [delta({}, 'length')], 'length'],
    ['content_filter', [delta({}, 'content_filter')], 'content_filter'],
    ['a word of the vendor', [delta({}, 'eos_token')], 'stop'],
    ['an empty word', [delta({}, '')], 'stop'],
    ['stop after tool calls', [calls, delta({}, 'stop')], 'tool_calls'],
    ['length within a tool call', [calls, delta({}, 'length')], 'length'],
    ['tool_calls without any', [delta({}, 'tool_calls')], 'stop'],
  ])('follows %s', (_, chunks, finishReason) => {
    expect(read(...chunks).at(-1)).toMatchObject({ type: 'end', finishReason });
  });

  it.each([
    [
      { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 2 },
      { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
    ],
    [
      {
        prompt_tokens: 3,
        completion_tokens: 0,
        total_tokens: 3,
        prompt_tokens_details: { cached_tokens: 1 },
      },
      { promptTokens: 3, completionTokens: 0, totalTokens: 3, cachedTokens: 1 },
    ],
    [
      { prompt_tokens: 1469, completion_tokens: 744, total_tokens: 2496 },
      { promptTokens: 1469, completionTokens: 1027, totalTokens: 2496 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 1 },
      { promptTokens: 9, completionTokens: 1, totalTokens: 10, cachedTokens: 8 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 7, prompt_tokens_details: null },
      { promptTokens: 9, completionTokens: 1, totalTokens: 10, cachedTokens: 7 },
    ],
    [
      { prompt_tokens: 9, completion_tokens: 1, num_cached_tokens: 6 },
      { promptTokens: 9, completionTokens: 1, totalTokens: 10, cachedTokens: 6 },
    ],
    [null, undefined],
    [{ prompt_tokens: -1 }, undefined],
    [{ prompt_tokens: 9.5, completion_tokens: 1 }, undefined],
  ])('counts %j', (wire, usage) => {
    const end = read(delta({}, 'stop'), { model: 'answered', choices: [], usage: wire }).at(-1);
    expect(end).toEqual({
      type: 'end',
      finishReason: 'stop',
      model: 'answered',
      ...(usage ? { usage } : {}),
    });
  });
});

describe('The usage of an answer', () => {
  const usage = { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32 };
  it.each<[string, object]>([
    [
      'Groq has it',
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { id: 'r', usage } },
    ],
    ['Moonshot has it', { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }],
  ])('is found where %s', (_, last) => {
    expect(read(delta({ content: 'Hi' }), { model: 'm', ...last }).at(-1)).toMatchObject({
      usage: { promptTokens: 19, completionTokens: 13, totalTokens: 32 },
    });
  });
});

describe('An answer that does not end', () => {
  const piece = 'a'.repeat(400_000);
  it.each<[string, object[]]>([
    ['of text', [1, 2, 3].map(() => delta({ content: piece }))],
    [
      'of a call’s arguments',
      [1, 2, 3].map(() => call({ index: 0, id: 'c', function: { name: 'f', arguments: piece } })),
    ],
    [
      'of calls',
      Array.from({ length: 129 }, (_, index) =>
        call({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }),
      ),
    ],
  ])('%s fails', (_, chunks) => {
    expect(() => read(...chunks)).toThrow('does not end');
    expect(read(...chunks.slice(0, -1), delta({}, 'stop'))).not.toEqual([]);
  });
});
