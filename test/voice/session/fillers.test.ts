import { expect, test } from 'vitest';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { WORD_MS } from '../support/scriptedSpeech.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  type SimulatedCall,
  simulatedCall,
  soundMs,
} from '../support/simulatedCall.ts';

const FILLER = 'One moment, please.';
const modelDown = new ModelError('model_unavailable', 'The model is down', { beforeFirstToken: true });

/** Advances time until the agent speaks, and returns how long that took. */
async function silenceMs(call: SimulatedCall): Promise<number> {
  const from = call.stream.nowMs();
  await call.agentSpeaks();
  return call.stream.nowMs() - from;
}

test('A filler covers a long wait for the greeting, and again 8 s after its beginning', async () => {
  const call = simulatedCall({ answer: () => ({ hang: true }) });
  expect(await silenceMs(call)).toBeLessThanOrEqual(4100);
  expect(call.voice.texts).toEqual([FILLER]);
  await call.agentFallsSilent();
  expect(await silenceMs(call)).toBeCloseTo(8000 - 3 * WORD_MS, -2);
  await call.hangUp();
});

test('A filler covers a pause in the middle of an answer, which continues after it', async () => {
  let goOn = () => {};
  const after = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const model = {
    name: 'pausing',
    async *stream({ model }: { readonly model: string }) {
      yield { type: 'text', text: 'Let me look into that. And ' } as const;
      await after;
      yield { type: 'text', text: 'so it is.' } as const;
      yield { type: 'end', finishReason: 'stop', model } as const;
    },
  };
  const call = simulatedCall({ answer: () => ({}), model });
  await call.agentSpeaks();
  await call.agentFallsSilent();
  expect(await silenceMs(call)).toBeLessThanOrEqual(4100);
  goOn();
  await call.agentFallsSilent();
  await call.stream.advance(2000);
  await call.hangUp();
  expect(call.transcript()).toEqual([`assistant: Let me look into that. ${FILLER} And so it is.`]);
});

test('Fillers repeat, but not while the agent is on hold', async () => {
  const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }) });
  await greeted(call);
  await call.say('Who are you?', 600);
  await call.agentSpeaks();
  await call.agentFallsSilent();
  call.stream.putOnHold(true);
  await call.stream.advance(20_000);
  call.stream.putOnHold(false);
  expect(soundMs(call.stream.agentAudio())).toBeCloseTo(7 * WORD_MS + 3 * WORD_MS, -2);
  expect(await silenceMs(call)).toBeGreaterThan(3900);
  await call.hangUp();
});

test('An interrupted filler is stored as heard, and what the caller said before it is kept', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, { hang: true }, { text: 'Here.' }][index] ?? {},
  });
  await greeted(call);
  await call.say('Where are you?', 600);
  await call.stream.until(() => call.voice.texts.at(-1) === FILLER);
  await call.agentSpeaks();
  await call.stream.advance(200);
  await call.say('Hello, where are you?', 1200);
  await greeted(call);
  await call.stream.hangUp();
  expect((await call.report).interruptions).toBe(1);
  expect(call.transcript().slice(1)).toEqual([
    'user: Where are you?',
    'assistant: One moment,',
    'user: Hello, where are you?',
    'assistant: Here.',
  ]);
  const messages = call.memory.records.flatMap((record) => record.messages);
  expect(messages[2]).toMatchObject({ content: 'One moment,', interrupted: true });
  expect(eventsOf(call, 'barge_in')).toMatchObject([{ heardText: 'One moment,' }]);
});

test('A filler is stored even when the answer fails', async () => {
  let fail = () => {};
  const after = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { after, fail: modelDown }) });
  await greeted(call);
  await call.say('Who are you?', 600);
  await call.agentSpeaks();
  await call.agentFallsSilent();
  fail();
  await call.stream.until(() => call.stream.commands.length > 0);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual([
    'user: Who are you?',
    `assistant: ${FILLER}`,
    expect.stringMatching(/^assistant: I am sorry, something is not working/),
  ]);
});
