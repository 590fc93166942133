import { expect, test } from 'vitest';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import { GREETING, greeted, type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

const speechOf = ({ memory }: SimulatedCall) =>
  memory.records.flatMap(({ messages }) => messages.map(({ content, speech }) => [content, speech]));

test('A message names the provider of its recognition or synthesis, digits name none', async () => {
  const answer = (index: number) => [GREETING, { text: 'Gladly.' }, { text: 'Four it is.' }][index] ?? {};
  const call = simulatedCall({ answer });
  await greeted(call);
  await call.say('I would like a table.', 900);
  await greeted(call);
  for (const digit of ['4', '#']) call.stream.pressDigit(digit);
  await greeted(call);
  await call.say('By the window.', 900);
  await call.hangUp();
  const recognition = call.caller.name;
  const synthesis = call.voice.name;
  expect(speechOf(call)).toEqual([
    [GREETING.text, { synthesis }],
    ['I would like a table.', { recognition }],
    ['Gladly.', { synthesis }],
    ['4', undefined],
    ['Four it is.', { synthesis }],
    // No turn answers it.
    ['By the window.', { recognition }],
  ]);
});

test('A message names the fallback voice that spoke it', async () => {
  const fallbackSpeech = scriptedVoice(8000, 4000);
  const call = simulatedCall({ answer: () => GREETING, fallbackSpeech });
  call.voice.failures = 4;
  await greeted(call);
  await call.hangUp();
  expect(speechOf(call)).toEqual([[GREETING.text, { synthesis: fallbackSpeech.name }]]);
});
