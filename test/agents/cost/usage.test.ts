import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rates } from '../../../src/agents/cost/rates.ts';
import {
  type Amounts,
  afterwards,
  chatAmounts,
  speechAmounts,
  sumOf,
  toSessionUsage,
  UsageTally,
} from '../../../src/agents/cost/usage.ts';

test('Usage is told by source, and as sums', () => {
  const amounts = [
    chatAmounts('b', { promptTokens: 100, completionTokens: 10, cachedTokens: 64 }),
    chatAmounts('org/a', { promptTokens: 5, completionTokens: 1 }),
    chatAmounts('b', { promptTokens: 50, completionTokens: 2 }),
    afterwards(chatAmounts('b', { promptTokens: 7, completionTokens: 3, cachedTokens: 7 })),
    speechAmounts('recognitionMs', 'deepgram', 'nova-3', 1500),
    speechAmounts('recognitionMs', 'local', undefined, 10),
    speechAmounts('synthesisCharacters', 'openai', 'org/tts', 12),
    { callMs: 61_250 },
  ].reduce(sumOf, {});
  expect(toSessionUsage(amounts)).toEqual({
    inputTokens: 155,
    outputTokens: 13,
    cachedInputTokens: 64,
    chat: [
      { model: 'b', inputTokens: 150, outputTokens: 12, cachedInputTokens: 64 },
      { model: 'org/a', inputTokens: 5, outputTokens: 1, cachedInputTokens: 0 },
    ],
    recognitionSeconds: 1.51,
    recognition: [
      { provider: 'deepgram', model: 'nova-3', seconds: 1.5 },
      { provider: 'local', seconds: 0.01 },
    ],
    synthesisCharacters: 12,
    synthesis: [{ provider: 'openai', model: 'org/tts', characters: 12 }],
    callSeconds: 61.25,
    afterwards: {
      inputTokens: 7,
      outputTokens: 3,
      cachedInputTokens: 7,
      chat: [{ model: 'b', inputTokens: 7, outputTokens: 3, cachedInputTokens: 7 }],
    },
  });
});

test('An endpoint’s own name of its model is cut, and no more tokens are cached than were sent', () => {
  const long = 'm'.repeat(5000);
  const usage = toSessionUsage(chatAmounts(long, { promptTokens: 3, completionTokens: 1, cachedTokens: 9 }));
  expect(usage.chat).toEqual([
    { model: 'm'.repeat(200), inputTokens: 3, outputTokens: 1, cachedInputTokens: 3 },
  ]);
});

test('A tally gives what was added since it was asked last', () => {
  const tally = new UsageTally();
  const added: Amounts = { callMs: 2 };
  tally.add(added);
  tally.add(added);
  expect([tally.take(), tally.take(), added]).toEqual([{ callMs: 4 }, {}, { callMs: 2 }]);
});

test('The sample of rates in the documentation is one', () => {
  const file = new URL('../../../docs/rates-sample-2025-10.json', import.meta.url);
  expect(rates.parse(JSON.parse(readFileSync(file, 'utf8'))).chat).not.toEqual([]);
});

const chat = (model: string) => ({ model, inputPerMillion: 1, outputPerMillion: 1 });
test.each<[string, object, string | undefined]>([
  ['a currency alone', { currency: 'USD' }, undefined],
  ['no currency', {}, 'currency'],
  ['a currency in words', { currency: 'dollars' }, 'currency'],
  ['a model twice', { currency: 'USD', chat: [chat('a'), chat('b'), chat('a')] }, 'chat.2'],
  [
    'a negative price',
    { currency: 'USD', chat: [{ ...chat('a'), inputPerMillion: -1 }] },
    'chat.0.inputPerMillion',
  ],
  [
    'an unknown provider',
    { currency: 'USD', recognition: [{ provider: 'x', perMinute: 1 }] },
    'recognition.0.provider',
  ],
  [
    'a provider with and without a model',
    {
      currency: 'USD',
      recognition: [
        { provider: 'deepgram', perMinute: 1 },
        { provider: 'deepgram', model: 'nova-3', perMinute: 1 },
      ],
    },
    undefined,
  ],
  [
    'a provider twice',
    {
      currency: 'USD',
      synthesis: [
        { provider: 'openai', perMillionCharacters: 1 },
        { provider: 'openai', perMillionCharacters: 2 },
      ],
    },
    'synthesis.1',
  ],
  [
    'a prefix that is none',
    { currency: 'USD', carrier: [{ prefix: '0912', perMinute: 1 }] },
    'carrier.0.prefix',
  ],
  [
    'more models than a list has',
    { currency: 'USD', chat: Array.from({ length: 501 }, (_, at) => chat(`${at}`)) },
    'chat',
  ],
  ['an unknown list', { currency: 'USD', embeddings: [] }, ''],
])('Rates of %s', (_, given, problem) => {
  const { error } = rates.safeParse(given);
  expect(error?.issues.map(({ path }) => path.join('.'))[0]).toBe(problem);
});
