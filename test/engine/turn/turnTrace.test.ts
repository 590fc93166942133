import { expect, test } from 'vitest';

import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { recordTraces } from '../../support/recordedTraces.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { pathway } from './support/bookingPathway.ts';

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
