import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  lastMessage,
  nodeWith,
  ONE_NODE,
  type SimulatedCall,
  type SimulatedCallOptions,
  simulatedCall,
} from '../support/simulatedCall.ts';

const NO_WORDS = { why: 'no_words' };
const SAY = {
  id: 'sorry',
  type: 'say',
  data: { title: 'Sorry', prompt: 'A person will call you.' },
} as const;

function leading(condition: NonNullable<PathwayInput['edges'][number]['data']>): PathwayInput {
  return {
    nodes: [...(ONE_NODE.nodes ?? []), SAY],
    edges: [{ id: 'e', source: 'start', target: 'sorry', data: condition }],
  };
}

/** The caller says something that nothing recognizes, so often; the agent answers each time. */
async function callWithoutWords(
  times: number,
  options: Partial<SimulatedCallOptions> = {},
): Promise<SimulatedCall> {
  const call = simulatedCall({ answer: () => GREETING, ...options });
  await greeted(call);
  await mutter(call, times);
  return call;
}

async function mutter(call: SimulatedCall, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await call.say('', 900);
    await greeted(call);
  }
}

const spoken = (call: SimulatedCall) => call.transcript().slice(1);

async function over(call: SimulatedCall): Promise<SimulatedCall> {
  await call.hangUp();
  return call;
}

test('A caller who is not understood three times in a row hears a goodbye', async () => {
  const call = await callWithoutWords(3);
  await call.stream.until(() => call.stream.commands.length > 0);
  await over(call);
  expect(spoken(call)).toEqual([
    'assistant: Sorry, I did not catch that. Could you say it again?',
    'assistant: Sorry, I did not catch that. Could you say it again?',
    'assistant: Sorry, I cannot understand you. Please call again later. Goodbye.',
  ]);
  expect(call.stream.commands).toEqual([{ kind: 'hangup', reason: 'not_understood' }]);
  expect(eventsOf(call, 'not_understood')).toEqual([1, 2, 3].map((count) => ({ ...NO_WORDS, count })));
  expect((await call.report).outcome).toBe('not_understood');
  expect(call.model.requests).toHaveLength(1);
});

test('The second request names what can be said and pressed at the node', async () => {
  const pathway = nodeWith({ expectedAnswers: ['keep it', 'cancel it', 'keep it'] });
  const digits = (id: string, pressed: string) => ({
    ...{ id, source: 'start', target: 'start' },
    data: { condition: { event: 'dtmf' as const, digits: pressed } },
  });
  const edges = [digits('one', '1'), digits('two', '42')];
  const call = await over(await callWithoutWords(2, { pathway: { ...pathway, edges } }));
  expect(lastMessage(call)?.content).toBe(
    'Sorry, I still did not understand you. You can say: keep it or cancel it. You can press 1 or 4 2 on your phone.',
  );
});

test.each([
  ['zh-TW', '不好意思，我還是沒聽清楚。 您可以說：好或不好。'],
  ['es', 'Perdone, sigo sin entenderle. Puede decir: 好 o 不好.'],
  ['fr', 'Pardon, je n’ai toujours pas compris. Vous pouvez dire : 好 ou 不好.'],
  ['de', 'Entschuldigung, ich habe Sie noch immer nicht verstanden. Sie können sagen: 好 oder 不好.'],
  ['fi', 'Sorry, I still did not understand you. You can say: 好 or 不好.'],
])('In %s it says %j', async (language, text) => {
  const pathway = nodeWith({ expectedAnswers: ['好', '不好'] });
  const call = await over(
    await callWithoutWords(2, { pathway, agent: { speech: { languages: [language] } } }),
  );
  expect(lastMessage(call)?.content).toBe(text);
});

test.each([
  ['its edge', { condition: { event: 'not_understood' } }],
  ['the node’s fallback', { fallback: true }],
] as const)('The third time the pathway takes %s', async (_, condition) => {
  const call = await over(await callWithoutWords(3, { pathway: leading(condition) }));
  expect(lastMessage(call)?.content).toBe('A person will call you.');
  expect(call.stream.commands).toEqual([]);
});

test('Without an edge the call is transferred where the agent says so', async () => {
  const to = '+886212345678';
  const call = await callWithoutWords(3, { agent: { notUnderstood: { transferTo: to } } });
  expect(call.stream.commands).toEqual([{ kind: 'transfer', to }]);
  expect(lastMessage(call)?.content).toBe(
    'Sorry, I cannot understand you. I am connecting you to someone who can help.',
  );
  expect(eventsOf(call, 'transfer')).toMatchObject([{ status: 'requested', to }]);
  await over(call);
  expect((await call.report).outcome).toBe('transferred');
});

test('A caller who interrupts the last words is transferred too', async () => {
  const to = '+886212345678';
  const call = await callWithoutWords(2, { agent: { notUnderstood: { transferTo: to } } });
  await call.say('', 900);
  await call.agentSpeaks();
  await call.stream.advance(300);
  await call.say('', 2000);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'transfer', to }]);
  await over(call);
});

test('A recognizer that fails three times ends the call as an error', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  call.caller.fail = new ModelError('model_unavailable', 'away');
  await mutter(call, 3);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'hangup', reason: 'error' }]);
  await over(call);
  expect(eventsOf(call, 'not_understood')).toEqual(
    [1, 2, 3].map((count) => ({ why: 'recognition_failed', count })),
  );
  expect((await call.report).outcome).toBe('failed');
});

test('The wait for a recognizer that gives no transcript in time is told as the recognizer’s', async () => {
  const call = simulatedCall({
    answer: () => GREETING,
    speechToText: {
      name: 'silent',
      openStream: () => ({ push: () => {}, finalize: () => new Promise(() => {}), close: () => {} }),
      close: async () => {},
    },
  });
  await greeted(call);
  await call.say('A table, please.', 900);
  await call.stream.advance(9000);
  await greeted(call);
  await over(call);
  expect(eventsOf(call, 'error')).toMatchObject([
    { code: 'transcription_failed', message: 'The recognizer did not answer in time' },
  ]);
  expect(lastMessage(call)?.latencyParts).toMatchObject({
    transcriptionMs: expect.closeTo(7700, -3),
    answerMs: 0,
  });
});

describe('A short word', () => {
  test('that is not recognized alone is recognized with what follows', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await greeted(call);
    await call.say('', 500);
    await call.stream.advance(1200);
    await call.say('Yes, keep it.', 500);
    await greeted(call);
    expect(spoken(call)).toEqual(['user: Yes, keep it.', `assistant: ${GREETING.text}`]);
    await over(call);
  });

  test('that nothing follows is asked for again', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await greeted(call);
    const fromMs = call.clock.monotonicMs();
    await call.say('', 500);
    await call.agentSpeaks();
    expect(call.clock.monotonicMs() - fromMs).toBeLessThan(3500);
    await over(call);
    expect(eventsOf(call, 'not_understood')).toEqual([{ ...NO_WORDS, count: 1 }]);
  });

  test('is asked for by no cough', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await greeted(call);
    await call.say('', 300);
    await call.stream.advance(5000);
    await over(call);
    expect(spoken(call)).toEqual([]);
  });
});

test('While the agent is paused, the history tells of speech that was not understood', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  call.stream.control({ kind: 'pause', isPaused: true });
  await call.say('', 900);
  await call.stream.advance(3000);
  await over(call);
  expect(spoken(call)).toEqual([]);
  expect(call.sessionEvents).toMatchObject([{ type: 'not_understood', data: { ...NO_WORDS, count: 1 } }]);
});

describe('What a session has heard is told at its end', () => {
  test('by what became of each utterance', async () => {
    const results: string[] = [];
    const call = await callWithoutWords(1, {
      withDeps: () => ({ onUtterance: (result) => void results.push(result) }),
    });
    await call.say('A table, please.', 900);
    await greeted(call);
    await call.say('', 200);
    await call.stream.advance(1000);
    call.caller.fail = new ModelError('model_unavailable', 'away');
    await call.say('For two.', 600);
    await greeted(call);
    call.caller.fail = undefined;
    await call.say('Goodbye.', 700);
    await over(call);
    const heard = { voicedSeconds: 3.3, utterances: 5, withWords: 2, withoutWords: 1, dropped: 1, late: 1 };
    expect(call.heard).toEqual([heard]);
    expect((await call.report).heard).toEqual(heard);
    expect(results).toEqual(['without_words', 'with_words', 'dropped', 'late', 'with_words']);
  });
});
