import { expect, test } from 'vitest';
import type { Tool } from '../../../src/agents/tool.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import {
  GREETING,
  greeted,
  lastMessage,
  nodeWith,
  type SimulatedCall,
  simulatedCall,
} from '../support/simulatedCall.ts';

const ANSWER = { text: 'Certainly.' };

const answering = (index: number) => (index === 0 ? GREETING : ANSWER);

/** The caller speaks for a second, and their words are known as soon as they fall silent. */
async function says(call: SimulatedCall, hear: () => void): Promise<void> {
  await call.say('', 1000);
  hear();
  await call.stream.advance(100);
}

test('An answer prepared at the eager end is played at once when the end is sure', async () => {
  const recognizer = scriptedRecognizer(true);
  const call = simulatedCall({ answer: answering, speechToText: recognizer });
  await greeted(call);
  await says(call, () => recognizer.final('a table'));
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(100);
  expect(call.model.requests).toHaveLength(2);
  expect(call.voice.texts).toContain(ANSWER.text);
  expect(call.isAgentSpeaking()).toBe(false);
  recognizer.emit({ type: 'end_of_turn' });
  await call.stream.advance(60);
  expect(call.isAgentSpeaking()).toBe(true);
  await call.agentFallsSilent();
  await call.hangUp();
  expect(call.model.requests).toHaveLength(2);
  expect(call.transcript().slice(1)).toEqual(['user: a table', 'assistant: Certainly.']);
  const { latencyMs = 0, latencyParts } = lastMessage(call) ?? {};
  expect(latencyParts).toMatchObject({ preemptive: 'committed', answerMs: 0, speechMs: 0 });
  expect(latencyMs).toBeLessThan(300);
});

test('An answer prepared too early leaves no trace', async () => {
  const recognizer = scriptedRecognizer(true);
  const call = simulatedCall({ answer: answering, speechToText: recognizer });
  await greeted(call);
  await says(call, () => recognizer.final('a table'));
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(100);
  recognizer.emit({ type: 'turn_resumed' });
  for (const words of ['a table for two', 'thank you']) {
    await says(call, () => recognizer.final(words));
    recognizer.emit({ type: 'end_of_turn' });
    await greeted(call);
  }
  await call.hangUp();
  expect(call.transcript().slice(1, 3)).toEqual(['user: a table for two', 'assistant: Certainly.']);
  const answers = call.memory.records
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role !== 'user');
  // It concerns the latency of the answer after it alone.
  expect(answers.slice(1).map(({ latencyParts }) => latencyParts?.preemptive)).toEqual(['canceled', 'none']);
});

test('An answer that a transfer overtakes before it could begin leaves the caller’s words once', async () => {
  const recognizer = scriptedRecognizer(true);
  let store = () => {};
  const isStored = new Promise<void>((resolve) => {
    store = resolve;
  });
  const call = simulatedCall({
    answer: answering,
    speechToText: recognizer,
    wrapSessions: (sessions) => ({
      ...sessions,
      saveTurn: async (...turn) => {
        await isStored;
        await sessions.saveTurn(...turn);
      },
    }),
  });
  await greeted(call);
  await says(call, () => recognizer.final('a table'));
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(100);
  expect(call.model.requests).toHaveLength(1);
  call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
  recognizer.emit({ type: 'end_of_turn' });
  await call.stream.advance(100);
  store();
  await call.stream.advance(500);
  await call.hangUp();
  expect(call.model.requests).toHaveLength(1);
  expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, 'user: a table']);
});

test('Without turn events, 150 ms after words that look complete an answer is prepared', async () => {
  const recognizer = scriptedRecognizer(false);
  const call = simulatedCall({ answer: answering, speechToText: recognizer });
  await greeted(call);
  await says(call, () => recognizer.interim('A table.'));
  expect(recognizer.finalized).toBe(1);
  recognizer.final('A table.');
  await call.stream.advance(100);
  expect(call.model.requests).toHaveLength(2);
  expect(call.isAgentSpeaking()).toBe(false);
  await call.agentSpeaks();
  await call.hangUp();
  expect(lastMessage(call)?.latencyParts).toMatchObject({ preemptive: 'committed' });
});

test('A model that fails before the end is sure is asked again', async () => {
  const recognizer = scriptedRecognizer(true);
  const answers = [GREETING, { fail: new Error('down') }, ANSWER];
  const call = simulatedCall({ answer: (index) => answers[index] ?? {}, speechToText: recognizer });
  await greeted(call);
  await says(call, () => recognizer.final('a table'));
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(200);
  recognizer.emit({ type: 'end_of_turn' });
  await greeted(call);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual(['user: a table', 'assistant: Certainly.']);
  expect(call.memory.events().filter(({ type }) => type === 'error')).toEqual([]);
});

test('A tool of the project runs once the end is sure', async () => {
  const recognizer = scriptedRecognizer(true);
  const tool = { id: 'book', name: 'book', description: '', parameters: {} } as unknown as Tool;
  let runs = 0;
  const toolRunner = {
    run: async () => {
      runs += 1;
      return { ok: true, text: 'booked' };
    },
  };
  const answers = [GREETING, { calls: [{ name: 'book' }] }, ANSWER];
  const call = simulatedCall({
    answer: (index) => answers[index] ?? {},
    speechToText: recognizer,
    pathway: nodeWith({ tools: ['book'] }),
    tools: [tool],
    toolRunner: toolRunner as never,
  });
  await greeted(call);
  await says(call, () => recognizer.final('book it'));
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(300);
  expect(call.model.requests).toHaveLength(2);
  expect(runs).toBe(0);
  recognizer.emit({ type: 'end_of_turn' });
  await greeted(call);
  expect(runs).toBe(1);
  await call.hangUp();
});

test('A caller who hangs up while an answer is prepared is kept with their words, once', async () => {
  const recognizer = scriptedRecognizer(true);
  const call = simulatedCall({ answer: answering, speechToText: recognizer });
  await greeted(call);
  await says(call, () => recognizer.final('never mind'));
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(100);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual(['user: never mind']);
});
