import { expect, test } from 'vitest';

import { tracedDelivery, tracedModel } from '../../../src/engine/turn/turnTrace.ts';
import { collect } from '../../support/collect.ts';
import { recordTraces } from '../../support/recordedTraces.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const clock = createSimulatedClock(10_000);
const ASKED = { model: 'm', messages: [] };

test('a spoken answer leaves the parts of its latency behind, one after the other', async () => {
  const { tracing, spans } = recordTraces(clock.now);
  const turn = tracing.startSpan('turn', { startMs: 8000 });
  const latencyParts = {
    bufferMs: 60,
    endpointingMs: 500,
    transcriptionMs: 40,
    answerMs: 300,
    speechMs: 80,
    playoutMs: 20,
  };
  const heard = { text: 'Hello.', interrupted: false, latencyMs: 1000, latencyParts };
  const delivery = tracedDelivery(
    { tracing, clock },
    {
      onSession: () => undefined,
      onNode: () => undefined,
      finish: async () => heard,
      heardSoFar: () => heard,
    },
    turn,
    8000,
  );
  expect(await delivery.finish()).toBe(heard);
  const parts = spans.slice(1).map(({ name, parent, startMs, endMs }) => [name, parent, startMs, endMs]);
  expect(parts).toEqual([
    ['buffer', 'turn', 8000, 8060],
    ['endpointing', 'turn', 8060, 8560],
    ['transcription', 'turn', 8560, 8600],
    ['answer', 'turn', 8600, 8900],
    ['first_audio', 'turn', 8900, 8980],
    ['playout', 'turn', 8980, 9000],
  ]);
  expect(spans[0]?.attributes).toEqual({ 'callway.latency_ms': 1000, 'callway.interrupted': false });
});

test('a greeting, which answers nobody, has no parts', async () => {
  const { tracing, spans } = recordTraces(clock.now);
  const turn = tracing.startSpan('turn');
  const delivery = {
    onSession: () => undefined,
    onNode: () => undefined,
    finish: async () => ({ text: 'Hello.', interrupted: true }),
    heardSoFar: () => ({ text: '', interrupted: false }),
  };
  await tracedDelivery({ tracing, clock }, delivery, turn, 8000).finish();
  expect(spans.map(({ name }) => name)).toEqual(['turn']);
});

test('a model’s answer is a span with its first word, and its failure the span’s', async () => {
  const { tracing, spans } = recordTraces(clock.now);
  const turn = tracing.startSpan('turn');
  const good = tracedModel(
    { tracing, clock },
    scriptedModel(() => ({ text: 'Hello.' })),
    turn,
  );
  await collect(good.stream(ASKED, new AbortController().signal));
  const failure = new Error('away');
  const failing = {
    name: 'bad',
    // biome-ignore lint/correctness/useYield: it fails before its first word
    async *stream() {
      throw failure;
    },
  };
  const bad = tracedModel({ tracing, clock }, failing, turn);
  await expect(collect(bad.stream(ASKED, new AbortController().signal))).rejects.toBe(failure);
  expect(spans.slice(1)).toMatchObject([
    { name: 'chat m', parent: 'turn', failure: undefined, endMs: 10_000 },
    { name: 'chat m', parent: 'turn', failure, endMs: 10_000 },
  ]);
  expect(spans[1]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'callway.first_token_ms': 0,
  });
});
