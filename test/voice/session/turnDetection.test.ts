import { expect, test } from 'vitest';
import type { TurnDetectionConfig } from '../../../src/agents/speech/turnDetection.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { GREETING, greeted, nodeWith, type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

const PLACES = [['agent'], ['node']] as const;

/** A call whose agent or node has these settings; the other place has the opposite ones where the node decides. */
function callWith(
  place: 'agent' | 'node',
  turnDetection: TurnDetectionConfig,
  overridden: TurnDetectionConfig,
) {
  const recognizer = scriptedRecognizer(true);
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'Certainly.' }),
    speechToText: recognizer,
    agent: { turnDetection: place === 'agent' ? turnDetection : overridden },
    pathway: nodeWith(place === 'node' ? { turnDetection } : {}),
  });
  return { call, recognizer };
}

/** Milliseconds from the caller's last words to the answer. */
async function answerDelayMs(call: SimulatedCall): Promise<number> {
  const fromMs = call.clock.monotonicMs();
  await call.agentSpeaks();
  return call.clock.monotonicMs() - fromMs;
}

test.each(PLACES)('mode of the %s decides whether turn events count', async (place) => {
  const { call, recognizer } = callWith(place, { mode: 'silence' }, { mode: 'provider' });
  await greeted(call);
  await call.say('', 1000);
  recognizer.final('My number is');
  recognizer.emit({ type: 'end_of_turn' });
  expect(await answerDelayMs(call)).toBeGreaterThan(800);
  await call.stream.hangUp();
});

test.each(PLACES)('eagerness of the %s shortens the pause that ends a turn', async (place) => {
  const delays: number[] = [];
  for (const eagerness of ['high', 'low'] as const) {
    const opposite = eagerness === 'high' ? 'low' : 'high';
    const { call, recognizer } = callWith(place, { mode: 'silence', eagerness }, { eagerness: opposite });
    await greeted(call);
    await call.say('', 1000);
    recognizer.final('a table for two');
    delays.push(await answerDelayMs(call));
    await call.stream.hangUp();
  }
  const [high = 0, low = 0] = delays;
  expect(low - high).toBeGreaterThan(200);
});

test.each(PLACES)('preemptive of the %s decides whether an answer is prepared', async (place) => {
  const { call, recognizer } = callWith(place, { preemptive: false }, { preemptive: true });
  await greeted(call);
  await call.say('', 1000);
  recognizer.final('a table');
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(100);
  expect(call.model.requests).toHaveLength(1);
  recognizer.emit({ type: 'end_of_turn' });
  await call.agentSpeaks();
  expect(call.model.requests).toHaveLength(2);
  await call.stream.hangUp();
});
