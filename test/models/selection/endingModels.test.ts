import { expect, test } from 'vitest';
import { DEFAULT_CHAT_MODELS, nearEndOf } from '../../../src/models/ports/modelCatalog.ts';
import { createEndingModelWarnings } from '../../../src/models/selection/endingModels.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const near = (model: string, today: string) => nearEndOf(model, Date.parse(today));

test.each([
  ['gpt-4.1-nano', '2026-07-20', undefined],
  ['gpt-4.1-nano', '2026-07-26', { day: '2026-10-23', hasEnded: false }],
  ['gpt-4.1-nano', '2026-10-23', { day: '2026-10-23', hasEnded: true }],
  ['gpt-4.1-nano-2025-04-14', '2026-11-28', { day: '2026-10-23', hasEnded: true }],
  ['o1-preview-2024-09-12', '2026-11-28', { day: '2025-07-28', hasEnded: true }],
  ['openai/GPT-4.1', '2026-11-28', { day: '2027-01-14', hasEnded: false }],
  ['models/gemini-2.5-flash', '2026-11-28', { day: '2026-12-01', hasEnded: false }],
  ['claude-sonnet-4-5-20250929', '2026-11-28', { day: '2026-11-30', hasEnded: false }],
  ['gpt-4o-mini-tts', '2026-11-28', { day: '2027-01-06', hasEnded: false }],
  ['gpt-realtime', '2026-11-28', { day: '2027-01-20', hasEnded: false }],
  ['gpt-realtime-2', '2026-11-28', undefined],
  ['qwen3:8b', '2026-11-28', undefined],
])('The end of %s as of %s is %j', (model, today, end) => {
  expect(near(model, today)).toEqual(end);
});

test('No default chat model has a known end', () => {
  const models = Object.values(DEFAULT_CHAT_MODELS).flatMap((tiers) => Object.values(tiers));
  expect(models.filter((model) => near(model, '2100-01-01'))).toEqual([]);
  expect(new Set(models).size).toBe(9);
});

test('A warning names the setting, the model and the day, once for each model', () => {
  const lines: unknown[] = [];
  const clock = createSimulatedClock(Date.parse('2026-11-28'));
  const warnOfEnd = createEndingModelWarnings({ clock, warn: (...line) => lines.push(line) });
  for (const model of ['gpt-4.1-nano', 'gpt-4.1-nano', 'gpt-6-luna', undefined])
    warnOfEnd(model, 'CHAT_MODEL_TURBO');
  warnOfEnd('gpt-4o', 'the agent’s chat');
  const [ended, ends] = ['a model has ended at its vendor', 'a model ends soon at its vendor'];
  expect(lines).toEqual([
    [
      `${ended}: change CHAT_MODEL_TURBO`,
      { setting: 'CHAT_MODEL_TURBO', model: 'gpt-4.1-nano', ends: '2026-10-23' },
    ],
    [
      `${ends}: change the agent’s chat`,
      { setting: 'the agent’s chat', model: 'gpt-4o', ends: '2027-01-14' },
    ],
  ]);
});
