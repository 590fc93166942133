import { expect, test } from 'vitest';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  lastMessage,
  simulatedCall,
  WITH_FALLBACK,
} from '../support/simulatedCall.ts';

const modelDown = new ModelError('model_unavailable', 'The model is down', { beforeFirstToken: true });

test('A model that is down leads to an apology and the hang-up', async () => {
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { fail: modelDown }),
    agent: { placeholderMessages: { en: ['One second.'] } },
  });
  await greeted(call);
  await call.say('I want a table.', 600);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'hangup', reason: 'error' }]);
  expect(call.transcript().slice(1)).toEqual([
    'user: I want a table.',
    'assistant: One second. I am sorry, something is not working on our side. Please call again later. Goodbye.',
  ]);
  expect(eventsOf(call, 'error')[0]).toMatchObject({ code: 'model_unavailable' });
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('failed');
});

test('A model that is down takes the node’s fallback edge', async () => {
  const pathway = WITH_FALLBACK;
  const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { fail: modelDown }), pathway });
  await greeted(call);
  await call.say('I want a table.', 600);
  await greeted(call);
  expect(call.transcript().slice(1)).toEqual(['user: I want a table.', 'assistant: A person will call you.']);
  expect(call.stream.commands).toEqual([]);
  await call.hangUp();
});

test('A model that is down at the greeting leads to the apology', async () => {
  const call = simulatedCall({ answer: () => ({ fail: modelDown }) });
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.voice.texts.join(' ')).toContain('something is not working');
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('failed');
});

test('Speech synthesis is retried once, then the fallback vendor speaks', async () => {
  const fallbackSpeech = scriptedVoice(8000, 7000);
  const answer = (index: number) => [GREETING, { text: 'I am the machine.' }][index] ?? {};
  const call = simulatedCall({ answer, fallbackSpeech });
  call.voice.failures = 1;
  await greeted(call);
  expect([call.voice.texts.length, fallbackSpeech.texts.length]).toEqual([3, 0]);
  call.voice.failures = 2;
  await call.say('Who are you?', 600);
  await greeted(call);
  expect(fallbackSpeech.texts).toEqual(['I am the machine.']);
  expect(lastMessage(call)?.content).toBe('I am the machine.');
  await call.hangUp();
});

test('An answer that no vendor can speak is stored as unheard, with an error event', async () => {
  const call = simulatedCall({ answer: (index) => [GREETING, { text: 'I am the machine.' }][index] ?? {} });
  await greeted(call);
  call.voice.failures = 2;
  await call.say('Who are you?', 600);
  await call.stream.advance(1000);
  expect(call.transcript().at(-1)).toBe('assistant: ');
  await call.hangUp();
  expect(call.sessionEvents).toMatchObject([
    { type: 'error', data: { code: 'speech_failed', message: 'The voice is down' } },
  ]);
});

test('A model that breaks off leaves what was said, and the apology follows', async () => {
  const call = simulatedCall({
    answer: (index) =>
      [GREETING, { text: 'Let me look into that. And', fail: modelDown }][index] ?? { fail: modelDown },
  });
  await greeted(call);
  await call.say('Who are you?', 600);
  await call.stream.until(() => call.stream.commands.length > 0);
  const transcript = call.transcript();
  expect(transcript[2]).toBe('assistant: Let me look into that. And');
  expect(transcript[3]).toContain('something is not working');
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('failed');
});

test('A recognizer that is down makes the agent ask for DTMF digits', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  // The turn has ended when its transcript comes.
  call.caller.delayTurns = 300;
  await call.say('Hello?', 600);
  await greeted(call);
  call.caller.delayTurns = 0;
  call.caller.fail = new ModelError('model_rejected', 'not installed', { beforeFirstToken: true });
  await call.say('Hello?', 600);
  await greeted(call);
  expect(lastMessage(call)?.content).toContain('keys of your phone');
  expect(lastMessage(call)?.latencyMs).toBeLessThan(1000);
  expect(eventsOf(call, 'error')).toEqual([{ code: 'transcription_failed', message: 'not installed' }]);
  await call.hangUp();
});

test('Speech without words is reprompted, a cough is not', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  await call.say('', 300);
  await call.stream.advance(2000);
  expect(call.transcript().length).toBe(1);
  // A second of speech with two gaps, as of a short sentence on a poor line.
  for (const pauseMs of [180, 180, 0]) {
    await call.say('', 200);
    await call.stream.advance(pauseMs);
  }
  await greeted(call);
  expect(lastMessage(call)?.content).toContain('I did not catch that');
  expect(eventsOf(call, 'silence')).toEqual([]);
  await call.hangUp();
});

test('What a recognizer writes for a sound is speech without words', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  await call.say('[MUSIC]', 900);
  await greeted(call);
  expect(lastMessage(call)?.content).toContain('I did not catch that');
  expect(call.model.requests).toHaveLength(1);
  await call.hangUp();
});
