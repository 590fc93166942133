import { describe, expect, test } from 'vitest';

import type { ReviewReason } from '../../../src/agents/accounts/reviewRules.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { type ReviewFacts, reviewReasons } from '../../../src/results/reviews/reviewReasons.ts';

const AT = '2026-01-01T12:00:00.000Z';
const at = (seconds: number) => new Date(Date.parse(AT) + seconds * 1000).toISOString();
const spoken = (...parts: [number, number][]) => parts.map(([from, to]) => ({ from: at(from), to: at(to) }));
const call = (endsAt: number) => ({
  answeredAtMs: Date.parse(AT),
  endedAtMs: Date.parse(at(endsAt)),
});

const DIMENSIONS = {
  release: 'draft',
  channel: 'phone',
  direction: 'inbound',
  trunkId: null,
  campaignId: null,
  agentId: null,
  language: null,
  provider: null,
  disposition: null,
  success: null,
  endReason: null,
  currency: null,
};
const FACTS: ReviewFacts = {
  startedAt: AT,
  endedAt: at(60),
  dimensions: DIMENSIONS,
  call: null,
  rolloutId: null,
  rolloutCurrency: null,
  turns: 1,
  criteria: [],
  reviewed: null,
  analysis: null,
  notUnderstood: 0,
  silences: [],
  spoken: [],
  transferAtMs: null,
  toolCalls: 0,
  toolFailures: 0,
  interruptions: 0,
  transferred: false,
  withError: false,
  cost: null,
  latencies: [],
  entries: [],
};
const ALL = (
  ['failed_criterion', 'no_disposition', 'not_understood', 'long_silence', 'interrupted_often'] as const
).map((when) => ({ when }));

describe('A session is queued for review', () => {
  test.each<[string, Partial<ReviewFacts>, ReviewReason[]]>([
    ['nothing happened', {}, []],
    ['a criterion was not met', { criteria: [{ name: 'a', passed: false }] }, ['failed_criterion']],
    ['all criteria were met', { criteria: [{ name: 'a', passed: true }] }, []],
    ['the analysis failed', { analysis: 'failed' }, ['no_disposition']],
    ['the analysis chose none', { analysis: 'done' }, ['no_disposition']],
    [
      'the analysis chose one',
      { analysis: 'done', dimensions: { ...DIMENSIONS, disposition: 'booked' } },
      [],
    ],
    ['the analysis was skipped', { analysis: 'skipped' }, []],
    ['the agent did not understand', { notUnderstood: 1 }, ['not_understood']],
    ['it was interrupted twice', { interruptions: 2 }, []],
    ['it was interrupted three times', { interruptions: 3 }, ['interrupted_often']],
    ['the agent asked again', { silences: [3000, 8000] }, ['long_silence']],
    ['the edge for a short silence was taken', { silences: [3000] }, []],
    ['each answered the other', { spoken: spoken([0, 4], [11, 14], [15, 20]), call: call(21) }, []],
    ['8 s between two sentences', { spoken: spoken([0, 4], [12, 14]), call: call(15) }, ['long_silence']],
    ['one spoke within the other’s words', { spoken: spoken([0, 20], [3, 4]), call: call(21) }, []],
    ['8 s before the caller hung up', { spoken: spoken([0, 4]), call: call(12) }, ['long_silence']],
    [
      'a transfer took over',
      { spoken: spoken([0, 4], [90, 95]), transferAtMs: Date.parse(at(5)), call: call(99) },
      [],
    ],
    ['a transfer came late', { spoken: spoken([0, 4]), transferAtMs: Date.parse(at(13)) }, ['long_silence']],
    ['a chat paused', { call: null, endedAt: at(3600) }, []],
  ])('by what happened: %s', (_, facts, reasons) => {
    expect(reviewReasons(ALL, { ...FACTS, ...facts }, uuidV7())).toEqual(reasons);
  });

  test('by its rule’s share, the same at each look, each rule for itself', () => {
    const rules = [
      { when: 'random', percent: 10 },
      { when: 'not_understood', percent: 50 },
    ] as const;
    const facts = { ...FACTS, notUnderstood: 1 };
    const ids = Array.from({ length: 4000 }, uuidV7);
    const chosen = ids.map((id) => reviewReasons(rules, facts, id));
    expect(ids.map((id) => reviewReasons(rules, facts, id))).toEqual(chosen);
    const share = (...wanted: ReviewReason[]) =>
      chosen.filter((reasons) => wanted.every((one) => reasons.includes(one))).length / ids.length;
    expect(share('random')).toBeCloseTo(0.1, 1);
    expect(share('not_understood')).toBeCloseTo(0.5, 1);
    expect(share('random', 'not_understood')).toBeGreaterThan(0.03);
    expect(share('random', 'not_understood')).toBeLessThan(0.07);
    expect(reviewReasons([{ when: 'random' }], FACTS, uuidV7())).toEqual(['random']);
  });
});
