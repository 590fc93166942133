import { expect, test } from 'vitest';

import type { TurnInput } from '../../../src/engine/turn/turn.ts';
import { TurnTrace } from '../../../src/engine/turn/turnTrace.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { recordTraces } from '../../support/recordedTraces.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { pathway } from './support/bookingPathway.ts';

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

test('Every model request of a turn has a span that ends, with the error of one that failed', async () => {
  const clock = createSimulatedClock();
  const traces = recordTraces(() => clock.now());
  const away = new ModelError('model_unavailable', 'away', { beforeFirstToken: true });
  const model = scriptedModel(({ purpose }) => {
    clock.advance(40);
    if (purpose === 'extract') return { fail: away };
    return purpose === 'route' ? { json: { edge: null } } : { text: 'Yes.' };
  });
  const conversation = memoryEngine({
    model,
    pathway,
    clock,
    tracing: traces.tracing,
    agent: {
      executionMode: 'smart',
      variableConfigs: [{ name: 'age', type: 'number', description: 'Theirs' }],
    },
  });
  await conversation.say('Hi');
  const [turn, ...requests] = traces.spans;
  expect([turn?.name, turn?.failure, turn?.attributes['callway.turn.input']]).toEqual([
    'turn',
    undefined,
    'user_message',
  ]);
  const shown = requests.map(({ parent, failure, attributes }) => [
    parent,
    attributes['callway.purpose'],
    failure,
    attributes['callway.first_token_ms'],
  ]);
  expect(shown.toSorted()).toEqual([
    ['turn', 'answer', undefined, 40],
    ['turn', 'extract', away, undefined],
    ['turn', 'route', undefined, 40],
  ]);
  for (const { endMs } of traces.spans) expect(endMs).toBeDefined();
});

test.each([
  ['that fails has its error', new Error('away'), false],
  ['whose client has left has none', new Error('gone'), true],
])('A turn %s', async (_what, error, hasLeft) => {
  const clock = createSimulatedClock();
  const traces = recordTraces(() => clock.now());
  const left = new AbortController();
  const model = scriptedModel(() => {
    if (hasLeft) left.abort(error);
    return { fail: error };
  });
  const conversation = memoryEngine({ model, pathway, clock, tracing: traces.tracing });
  const turn = conversation.engine.runTurn(
    { projectId: PROJECT, sessionId: 's', channel: 'chat' },
    () => ({ input: { kind: 'user_message', text: 'Hi' } }),
    () => undefined,
    left.signal,
  );
  await expect(turn).rejects.toBe(error);
  expect(traces.spans.map(({ failure }) => failure)).toEqual(
    traces.spans.map(() => (hasLeft ? undefined : error)),
  );
});
