import { expect, test } from 'vitest';
import {
  agentStartEpochMs,
  speechEndEpochMs,
  turnLatency,
} from '../../../src/conversation/turns/turnLatency.ts';
import { AnswerWaits } from '../../../src/engine/turn/answerWaits.ts';

const timestamps = { lastVoicedMs: 1000, endpointStreamMs: 1500, endpointAtMs: 70_000 };

test('Turn latency is divided into parts that add up to the stream’s total', () => {
  const latency = turnLatency(
    {
      ...timestamps,
      transcriptAtMs: 70_040,
      firstTextAtMs: 70_240,
      firstSamplesAtMs: 70_300,
      agentStartStreamMs: 1840,
      bufferDelayMs: 59.6,
    },
    new AnswerWaits(),
  );
  expect(latency).toEqual({
    latencyMs: 900,
    latencyParts: {
      bufferMs: 60,
      endpointingMs: 500,
      transcriptionMs: 40,
      answerMs: 200,
      speechMs: 60,
      playoutMs: 40,
      preemptive: 'none',
    },
  });
});

test('Turn latency counts an early transcript as 0 ms, and no part exceeds the stream’s total', () => {
  const latency = turnLatency(
    {
      ...timestamps,
      transcriptAtMs: 69_900,
      firstTextAtMs: 72_000,
      agentStartStreamMs: 1700,
    },
    new AnswerWaits(),
  );
  expect(latency).toEqual({
    latencyMs: 700,
    latencyParts: {
      bufferMs: 0,
      endpointingMs: 500,
      transcriptionMs: 0,
      answerMs: 200,
      speechMs: 0,
      playoutMs: 0,
      preemptive: 'none',
    },
  });
});

test.each([
  ['the model and the first sentence', [['model', 70_140]], 70_270, { modelMs: 100, sentenceMs: 30 }],
  ['an answer that was prepared before', [['model', 69_000]], 70_100, { modelMs: 200, sentenceMs: 0 }],
  ['a fixed text of the pathway', [], 70_240, { sentenceMs: 0 }],
  [
    'a model that is asked again at another node',
    [
      ['model', 70_050],
      ['model', 70_200],
    ],
    70_240,
    { modelMs: 40, sentenceMs: 0 },
  ],
  [
    'a tool between two requests',
    [
      ['model', 70_050],
      ['tool', 70_100],
      [undefined, 70_190],
      ['model', 70_200],
    ],
    70_240,
    { modelMs: 90, toolMs: 90, sentenceMs: 0 },
  ],
  [
    'a tool that a filler covers',
    [
      ['model', 70_050],
      ['tool', 70_090],
    ],
    70_240,
    { modelMs: 40, toolMs: 150, sentenceMs: 0 },
  ],
  ['a tool after the first words', [['tool', 70_300]], 70_240, { sentenceMs: 0 }],
] as const)('Turn latency tells the shares of %s', (_what, begun, firstSentenceAtMs, details) => {
  const waits = new AnswerWaits();
  for (const [waitedFor, atMs] of begun) waits.begin(waitedFor, atMs);
  const latency = turnLatency(
    {
      ...timestamps,
      transcriptAtMs: 70_040,
      firstTextAtMs: 70_240,
      firstSentenceAtMs,
      firstSamplesAtMs: 70_300,
      agentStartStreamMs: 1840,
    },
    waits,
  );
  expect(latency?.latencyDetails).toEqual(details);
});

test('Turn latency is undefined when the agent was not heard', () =>
  expect(turnLatency(timestamps, new AnswerWaits())).toBeUndefined());

test.each([
  [{}, 999_300, undefined],
  [{ agentStartStreamMs: 1840 }, 999_300, 1_000_140],
  // Digits end a turn in the middle of speech.
  [{ endpointStreamMs: 900, agentStartStreamMs: 1200 }, 999_800, 1_000_000],
])(
  'With %j speech ended at %i and the agent began at %s on the wall clock',
  (more, speechEnd, agentStart) => {
    // The wall clock is read 200 ms after the endpoint.
    const clocks = [70_200, 1_000_000] as const;
    expect(speechEndEpochMs({ ...timestamps, ...more }, ...clocks)).toBe(speechEnd);
    expect(agentStartEpochMs({ ...timestamps, ...more }, ...clocks)).toBe(agentStart);
  },
);
