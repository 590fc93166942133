import { expect, test } from 'vitest';

import { agentStartEpochMs, speechEndEpochMs, turnLatency } from '../../../src/voice/turns/turnLatency.ts';

const timestamps = { lastVoicedMs: 1000, endpointStreamMs: 1500, endpointAtMs: 70_000 };

test('Turn latency is divided into parts that add up to the stream’s total', () => {
  const latency = turnLatency({
    ...timestamps,
    transcriptAtMs: 70_040,
    firstTextAtMs: 70_240,
    firstSamplesAtMs: 70_300,
    agentStartStreamMs: 1840,
    bufferDelayMs: 59.6,
  });
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
  const latency = turnLatency({
    ...timestamps,
    transcriptAtMs: 69_900,
    firstTextAtMs: 72_000,
    agentStartStreamMs: 1700,
  });
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
  ['the model and the first sentence', 70_140, 70_270, { modelMs: 100, sentenceMs: 30 }],
  ['an answer that was prepared before', 69_000, 70_100, { modelMs: 200, sentenceMs: 0 }],
  ['a fixed text of the pathway', undefined, 70_240, { sentenceMs: 0 }],
])('Turn latency tells the shares of %s', (_what, modelRequestAtMs, firstSentenceAtMs, details) => {
  const latency = turnLatency({
    ...timestamps,
    transcriptAtMs: 70_040,
    ...(modelRequestAtMs === undefined ? {} : { modelRequestAtMs }),
    firstTextAtMs: 70_240,
    firstSentenceAtMs,
    firstSamplesAtMs: 70_300,
    agentStartStreamMs: 1840,
  });
  expect(latency?.latencyDetails).toEqual(details);
});

test('Turn latency is undefined when the agent was not heard', () =>
  expect(turnLatency(timestamps)).toBeUndefined());

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
