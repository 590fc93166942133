import { expect, test } from 'vitest';
import { rates } from '../../../src/agents/cost/rates.ts';
import {
  afterwards,
  chatAmounts,
  speechAmounts,
  sumOf,
  toSessionUsage,
} from '../../../src/agents/cost/usage.ts';
import { costOf, tokenCost } from '../../../src/results/cost/costOf.ts';

const RATES = rates.parse({
  currency: 'TWD',
  chat: [
    { model: 'gpt-x', inputPerMillion: 2, outputPerMillion: 8, cachedInputPerMillion: 0.5 },
    { model: 'gpt-x-2026-01-01', inputPerMillion: 1, outputPerMillion: 4 },
    { model: 'free', inputPerMillion: 0, outputPerMillion: 0 },
  ],
  recognition: [
    { provider: 'deepgram', perMinute: 0.006 },
    { provider: 'deepgram', model: 'nova-3', perMinute: 0.0043 },
    { provider: 'soniox', model: 'stt-rt', perMinute: 0.002 },
  ],
  synthesis: [{ provider: 'elevenlabs', perMillionCharacters: 50 }],
  carrier: [
    { prefix: '+886', perMinute: 0.1 },
    { prefix: '+8869', perMinute: 0.2 },
  ],
});
const NOTHING = { total: 0, chat: 0, recognition: 0, synthesis: 0, carrier: 0, afterwards: 0 };
const tokens = (promptTokens: number, completionTokens: number, cachedTokens = 0) => ({
  promptTokens,
  completionTokens,
  cachedTokens,
});
const heard = (provider: string, model: string | undefined, ms: number) =>
  speechAmounts('recognitionMs', provider, model, ms);
const spoken = (provider: string, characters: number) =>
  speechAmounts('synthesisCharacters', provider, undefined, characters);

test.each<[string, object, object]>([
  ['nothing', {}, {}],
  ['tokens', chatAmounts('gpt-x', tokens(1000, 100)), { total: 0.0028, chat: 0.0028 }],
  [
    'cached tokens at their price',
    chatAmounts('gpt-x', tokens(1000, 0, 800)),
    { total: 0.0008, chat: 0.0008 },
  ],
  [
    'cached tokens at the full price where they have none',
    chatAmounts('gpt-x-2026-01-01', tokens(1000, 0, 800)),
    { total: 0.001, chat: 0.001 },
  ],
  ['a model that is free', chatAmounts('free', tokens(1000, 100)), {}],
  ['a model without a rate', chatAmounts('gpt-x-mini', tokens(1000, 100)), { unpriced: ['gpt-x-mini'] }],
  ['a model whose endpoint told no tokens', chatAmounts('gpt-x', {}), { unpriced: ['gpt-x'] }],
  [
    'one token, which no float shows with 17 digits',
    sumOf(chatAmounts('gpt-x', tokens(1, 1, 1)), spoken('elevenlabs', 1)),
    { total: 0.0000585, chat: 0.0000085, synthesis: 0.00005 },
  ],
  ['recognition by model', heard('deepgram', 'nova-3', 90_000), { total: 0.00645, recognition: 0.00645 }],
  ['recognition by provider', heard('deepgram', 'flux', 60_000), { total: 0.006, recognition: 0.006 }],
  [
    'recognition of the default model',
    heard('deepgram', undefined, 60_000),
    { total: 0.006, recognition: 0.006 },
  ],
  ['recognition without a rate', heard('soniox', undefined, 60_000), { unpriced: ['soniox'] }],
  ['recognition by another model', heard('soniox', 'stt-async', 60_000), { unpriced: ['soniox/stt-async'] }],
  ['synthesis', spoken('elevenlabs', 300), { total: 0.015, synthesis: 0.015 }],
  ['synthesis without a rate', spoken('local', 300), { unpriced: ['local'] }],
  [
    'what models took afterwards',
    afterwards(chatAmounts('gpt-x', tokens(1000, 100))),
    { total: 0.0028, afterwards: 0.0028 },
  ],
])('The cost of %s', (_, amounts, cost) => {
  expect(costOf(toSessionUsage(amounts as Record<string, number>), [], RATES)).toEqual({
    ...NOTHING,
    currency: 'TWD',
    unpriced: [],
    ...cost,
  });
});

test.each([
  ['+886212345678', 60_000, { total: 0.1, carrier: 0.1 }],
  ['+886912345678', 90_000, { total: 0.3, carrier: 0.3 }],
  ['sip:+886912345678@pbx.example.com', 60_000, { total: 0.2, carrier: 0.2 }],
  ['+4930123456', 60_000, { unpriced: ['carrier'] }],
  ['+4930123456', 0, {}],
])('A leg to %s that talks for %i ms costs by the longest prefix', (to, talkTimeMs, cost) => {
  expect(costOf(toSessionUsage({}), [{ to, talkTimeMs }], RATES)).toEqual({
    ...NOTHING,
    currency: 'TWD',
    unpriced: [],
    ...cost,
  });
});

test.each([
  ['gpt-x', 2],
  ['gpt-x-2026-01-01', 1],
  ['gpt-x-2025-08-07', 2],
  ['gpt-x-20250807', 2],
  ['gpt-x@20250807', 2],
  ['gpt-x-001', 2],
  ['gpt-x-0613', 2],
  ['gpt-x-latest', 2],
  ['gpt-x-mini', undefined],
  ['gpt-x-2026-01-01-preview', undefined],
  ['gpt-x.1', undefined],
  ['GPT-X', undefined],
  ['openai/gpt-x', undefined],
])('A million tokens of %s cost %j', (model, cost) => {
  const used = { model, inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 0 };
  expect(tokenCost([used], RATES)).toBe(cost);
});

test('The tokens of an answer have no cost where one of their models has no rate', () => {
  const used = { inputTokens: 500_000, outputTokens: 0, cachedInputTokens: 0 };
  expect(
    tokenCost(
      [
        { ...used, model: 'gpt-x' },
        { ...used, model: 'free' },
      ],
      RATES,
    ),
  ).toBe(1);
  expect(
    tokenCost(
      [
        { ...used, model: 'gpt-x' },
        { ...used, model: 'unknown' },
      ],
      RATES,
    ),
  ).toBe(undefined);
});
