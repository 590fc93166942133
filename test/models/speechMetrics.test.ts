import { expect, test } from 'vitest';
import { ModelError } from '../../src/models/ports/modelError.ts';
import type { TextToSpeech } from '../../src/models/ports/textToSpeech.ts';
import { withStreamedSynthesisMetrics, withSynthesisMetrics } from '../../src/models/speechMetrics.ts';
import { arrayFromAsync } from '../support/arrayFromAsync.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { scriptedSynthesizer } from '../voice/support/scriptedSynthesizer.ts';

const forever = new AbortController().signal;
const unavailable = new ModelError('model_unavailable', 'away');

function setUp() {
  const clock = createSimulatedClock();
  const recorded: (string | number)[] = [];
  const metrics = {
    recordError: ({ code }: { code: string }) => void recorded.push(code),
    recordOutput: () => undefined,
    recordFirstOutput: (waitedMs: number) => void recorded.push(waitedMs),
  };
  return { clock, recorded, metrics };
}

const close = async () => undefined;
const textToSpeech = (synthesize: TextToSpeech['synthesize']): TextToSpeech => ({
  name: 's',
  sampleRateHz: 8000,
  isCacheable: true,
  synthesize,
  close,
});
test('Synthesis metrics record the wait for the first samples only', async () => {
  const { clock, recorded, metrics } = setUp();
  const speech = textToSpeech(async function* () {
    for (const waitMs of [120, 5000]) {
      clock.advance(waitMs);
      yield new Int16Array(1);
    }
  });
  const samples = await arrayFromAsync(
    withSynthesisMetrics(speech, metrics, clock).synthesize({ text: 'Hi' }, forever),
  );
  expect([samples.length, recorded]).toEqual([2, [120]]);
});

test.each([
  ['count a model error', unavailable, ['model_unavailable']],
  ['do not count an abort', new Error('aborted'), []],
])('Speech metrics %s and pass it on', async (_, error, counted) => {
  const { clock, recorded, metrics } = setUp();
  const fail = () => Promise.reject(error);
  const speech = textToSpeech(() => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }));
  await expect(
    arrayFromAsync(withSynthesisMetrics(speech, metrics, clock).synthesize({ text: 'Hi' }, forever)),
  ).rejects.toBe(error);
  expect(recorded).toEqual(counted);
});

test('A text that is cancelled without a sound counts as an error once the vendor was slow', () => {
  const { clock, recorded, metrics } = setUp();
  const synthesizer = scriptedSynthesizer();
  synthesizer.isManual = true;
  const connection = withStreamedSynthesisMetrics(synthesizer, metrics, clock).connect();
  const say = (waitMs: number, sounds: boolean) => {
    const stream = connection.speak({}, () => undefined);
    stream.write('Hello.');
    const samples = new Int16Array(80);
    if (sounds) synthesizer.requests.at(-1)?.emit({ type: 'samples', samples });
    clock.advance(waitMs);
    stream.cancel();
    stream.cancel();
  };
  say(300, false);
  say(1500, true);
  expect(recorded).toEqual([0]);
  say(1500, false);
  expect(recorded).toEqual([0, 'model_unavailable']);
});
