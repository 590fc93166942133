import { expect, test } from 'vitest';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { RecognitionEvent } from '../../../src/models/ports/streamingSpeechToText.ts';
import { transcribeUtterance } from '../../../src/voice/recognition/transcribeUtterance.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { scriptedCaller } from '../support/scriptedSpeech.ts';

const OPTIONS = { sampleRateHz: 8000, language: 'en', expectedAnswers: ['yes'] };
const words = (text: string) => ({ transcript: { text } });

test('An utterance is transcribed by a recognizer of whole utterances', async () => {
  const caller = scriptedCaller();
  const frames = [caller.say('one', 20), caller.say('two', 20)];
  expect(await transcribeUtterance(caller, frames, OPTIONS, createSimulatedClock())).toEqual({
    text: 'one two',
  });
});

const AWAY = new ModelError('model_unavailable', 'away');

test.each<[string, RecognitionEvent[], object | undefined]>([
  [
    'the final transcript',
    [{ type: 'connected' }, { type: 'interim', ...words('o') }, { type: 'final', ...words('one') }],
    { text: 'one' },
  ],
  [
    'what was heard when the turn ends',
    [{ type: 'interim', ...words('one') }, { type: 'eager_end' }, { type: 'end_of_turn' }],
    { text: 'one' },
  ],
  ['what was heard within 3 s', [{ type: 'interim', ...words('on') }], { text: 'on' }],
  ['nothing, where nothing comes', [], { text: '' }],
  ['the error of a lost connection', [{ type: 'failed', error: AWAY }], undefined],
])('Of a streaming recognizer an utterance has %s', async (_what, events, expected) => {
  const clock = createSimulatedClock();
  const recognizer = scriptedRecognizer(false);
  const frames = [new Int16Array(160), new Int16Array(160)];
  const transcribing = transcribeUtterance(recognizer, frames, OPTIONS, clock);
  expect([recognizer.heardSamples, recognizer.finalized]).toEqual([320, 1]);
  for (const event of events) {
    await new Promise((resolve) => setImmediate(resolve));
    recognizer.emit(event);
  }
  if (events.length < 2) clock.advance(3_000);
  if (expected) expect(await transcribing).toEqual(expected);
  else await expect(transcribing).rejects.toBe(AWAY);
  expect(clock.pendingTimers()).toBe(0);
});
