import { expect, test } from 'vitest';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { GREETING, greeted, simulatedCall } from '../support/simulatedCall.ts';

/** A call whose caller has just said a second of words, of which the recognizer has told the first ones. */
async function spoken(detectsTurns: boolean) {
  const recognizer = scriptedRecognizer(detectsTurns);
  const answer = (index: number) => (index === 0 ? GREETING : { text: 'Certainly.' });
  const call = simulatedCall({ answer, speechToText: recognizer });
  await greeted(call);
  await call.say('', 1000);
  recognizer.interim('No, the');
  return { call, recognizer };
}

test.each([true, false])(
  'The last words before the hangup are asked for and kept; turns detected: %s',
  async (detectsTurns) => {
    const { call, recognizer } = await spoken(detectsTurns);
    await call.stream.hangUp();
    expect(recognizer.finalized).toBe(1);
    recognizer.final('No, the second of May.');
    await call.report;
    expect(call.transcript().at(-1)).toBe('user: No, the second of May.');
  },
);

test('A final transcript without the last words by its times is not that of the hangup', async () => {
  const { call, recognizer } = await spoken(true);
  await call.stream.hangUp();
  const early = { text: 'No, the', words: [{ word: 'the', startMs: 0, endMs: 100 }] };
  recognizer.emit({ type: 'final', transcript: early });
  call.clock.advance(300);
  recognizer.final('second of May.');
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: No, the second of May.');
});

test('A recognizer that does not tell the last words keeps the call for 700 ms at most', async () => {
  const { call } = await spoken(true);
  await call.stream.hangUp();
  call.clock.advance(700);
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: No, the');
});

test('A lost recognizer does not keep the call', async () => {
  const { call, recognizer } = await spoken(true);
  await call.stream.hangUp();
  recognizer.emit({ type: 'failed', error: new ModelError('model_unavailable', 'gone') });
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: No, the');
});

test.each([true, false])(
  'A cough without words is no failure of the recognizer; turns detected: %s',
  async (detectsTurns) => {
    const recognizer = scriptedRecognizer(detectsTurns);
    const answer = (index: number) => (index === 0 ? GREETING : { text: 'Certainly.' });
    const call = simulatedCall({ answer, speechToText: recognizer });
    await greeted(call);
    await call.say('', 300);
    await call.stream.advance(9000);
    await call.hangUp();
    expect(call.transcript().join('\n')).not.toMatch(/sorry|repeat/i);
    expect(call.model.requests.length).toBeLessThanOrEqual(2);
  },
);

test('A recognizer is asked once to end a turn that was discarded', async () => {
  const { call, recognizer } = await spoken(true);
  await call.stream.advance(100);
  await call.stream.hangUp();
  call.clock.advance(700);
  await call.report;
  expect(recognizer.finalized).toBe(1);
});
