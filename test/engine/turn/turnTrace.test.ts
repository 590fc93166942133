import { expect, test } from 'vitest';

import type { TurnInput } from '../../../src/engine/turn/turn.ts';
import { TurnTrace } from '../../../src/engine/turn/turnTrace.ts';
import { recordTraces } from '../../support/recordedTraces.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const clock = createSimulatedClock(10_000);
const SESSION = { projectId: 'p', sessionId: 's', channel: 'phone' } as const;
const INPUT: TurnInput = { kind: 'user_message', text: 'Hi' };

test('TurnTrace records the parts of a spoken answer’s latency one after the other', () => {
  const { tracing, spans } = recordTraces(clock.now);
  const trace = new TurnTrace({ tracing, clock }, SESSION, { input: INPUT, beganAtMs: 8000 });
  const latencyParts = {
    bufferMs: 60,
    endpointingMs: 500,
    transcriptionMs: 40,
    answerMs: 300,
    speechMs: 80,
    playoutMs: 20,
  };
  trace.recordDelivery({ text: 'Hello.', interrupted: false, latencyMs: 1000, latencyParts });
  const parts = spans.slice(1).map(({ name, parent, startMs, endMs }) => [name, parent, startMs, endMs]);
  expect(parts).toEqual([
    ['buffer', 'turn', 8000, 8060],
    ['endpointing', 'turn', 8060, 8560],
    ['transcription', 'turn', 8560, 8600],
    ['answer', 'turn', 8600, 8900],
    ['first_audio', 'turn', 8900, 8980],
    ['playout', 'turn', 8980, 9000],
  ]);
  expect(spans[0]?.attributes).toMatchObject({ 'callway.latency_ms': 1000, 'callway.interrupted': false });
});

test('TurnTrace records no parts for a greeting', () => {
  const { tracing, spans } = recordTraces(clock.now);
  const trace = new TurnTrace({ tracing, clock }, SESSION, { input: { kind: 'begin' } });
  trace.recordDelivery({ text: 'Hello.', interrupted: true });
  expect(spans.map(({ name }) => name)).toEqual(['turn']);
});

test('TurnTrace records a model request with its time to the first token, and its failure', () => {
  const { tracing, spans } = recordTraces(clock.now);
  const trace = new TurnTrace({ tracing, clock }, SESSION, { input: INPUT });
  const request = { model: 'm', messages: [], purpose: 'answer' } as const;
  const good = trace.startModelSpan('openai', request);
  good.onEvent();
  good.end();
  const failure = new Error('away');
  const bad = trace.startModelSpan('openai', request);
  bad.recordError(failure);
  bad.end();
  expect(spans.slice(1)).toMatchObject([
    { name: 'chat m', parent: 'turn', failure: undefined, endMs: 10_000 },
    { name: 'chat m', parent: 'turn', failure, endMs: 10_000 },
  ]);
  expect(spans[1]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm',
    'callway.purpose': 'answer',
    'callway.first_token_ms': 0,
  });
});
