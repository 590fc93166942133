import { describe, expect, test } from 'vitest';

import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { ScriptedAnswer } from '../../support/scriptedModel.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  ONE_NODE,
  type SimulatedCall,
  simulatedCall,
  WITH_FALLBACK,
} from '../support/simulatedCall.ts';

const APOLOGY = 'I am sorry, something is not working on our side. Please call again later. Goodbye.';
const QUESTION = 'I want a table.';

/** A call in which the caller asks a question and the model gives these answers. */
async function asked(
  answers: readonly ScriptedAnswer[],
  options: Partial<Parameters<typeof simulatedCall>[0]> = {},
): Promise<SimulatedCall> {
  const call = simulatedCall({ answer: (index) => [GREETING, ...answers][index] ?? {}, ...options });
  await greeted(call);
  await call.say(QUESTION, 600);
  await call.stream.advance(6000);
  await call.hangUp();
  return call;
}

const withTools = (...tools: readonly string[]): PathwayInput => ({
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', tools: [...tools] } }],
  edges: [],
});

describe('An empty answer of the model', () => {
  test.each<[string, ScriptedAnswer]>([
    ['nothing', {}],
    ['white space', { text: [' ', '\n\n'] }],
    ['punctuation', { text: '…' }],
  ])('is requested once more: %s', async (_what, empty) => {
    const call = await asked([empty, { text: ['\n', 'Gladly.'] }]);
    expect(call.transcript().slice(1)).toEqual([`user: ${QUESTION}`, 'assistant: Gladly.']);
    expect(eventsOf(call, 'error')).toEqual([]);
    expect(call.model.requests).toHaveLength(3);
  });

  test('leads to the apology the second time, with an error event', async () => {
    const call = await asked([{}, { text: ' ' }]);
    expect(call.transcript().slice(1)).toEqual([`user: ${QUESTION}`, `assistant: ${APOLOGY}`]);
    expect(eventsOf(call, 'error')).toMatchObject([
      { code: 'model_malformed', message: 'The model answered without a word' },
    ]);
    expect(call.stream.commands).toEqual([{ kind: 'hangup', reason: 'error' }]);
    expect((await call.report).outcome).toBe('failed');
    expect(call.model.requests).toHaveLength(3);
  });

  test.each([['smart'], ['balance'], ['turbo']] as const)(
    'takes the pathway’s fallback in mode %s',
    async (executionMode) => {
      const call = simulatedCall({
        answer: (index) => (index === 0 ? GREETING : {}),
        pathway: WITH_FALLBACK,
        agent: { executionMode },
      });
      await greeted(call);
      await call.say(QUESTION, 600);
      await greeted(call);
      expect(call.transcript().slice(1)).toEqual([`user: ${QUESTION}`, 'assistant: A person will call you.']);
      expect(call.stream.commands).toEqual([]);
      await call.hangUp();
    },
  );

  test('to DTMF digits leads to the apology', async () => {
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : {}) });
    await greeted(call);
    call.stream.pressDigit('4');
    call.stream.pressDigit('#');
    await greeted(call);
    expect(call.transcript().slice(1)).toEqual(['user: 4', `assistant: ${APOLOGY}`]);
    await call.hangUp();
  });

  test('after a tool call is requested once more', async () => {
    const lookUp = { calls: [{ name: 'query_knowledgebase', arguments: { query: 'tables' } }] };
    const call = await asked([lookUp, {}, {}], { pathway: withTools('query_knowledgebase') });
    expect(call.transcript().at(-1)).toBe(`assistant: ${APOLOGY}`);
    expect(call.model.requests).toHaveLength(4);
  });

  test.each<[string, ScriptedAnswer, string]>([
    ['send_dtmf', { calls: [{ name: 'send_dtmf', arguments: { digits: '1' } }] }, 'send_dtmf'],
    [
      'set_variable',
      { calls: [{ name: 'set_variable', arguments: { name: 'a', value: 'b' } }] },
      'set_variable',
    ],
  ])('is accepted when the model calls %s', async (_what, answer, tool) => {
    const call = await asked([answer, {}], { pathway: withTools(tool) });
    expect(call.transcript().slice(1)).toEqual([`user: ${QUESTION}`]);
    expect(call.errors).toEqual([]);
    expect(call.model.requests).toHaveLength(3);
  });

  test('is accepted with end_call and from a say node without text', async () => {
    const ended = await asked([{ calls: [{ name: 'end_call' }] }], { pathway: withTools('end_call') });
    expect((await ended.report).outcome).toBe('hung_up');
    expect(ended.model.requests).toHaveLength(2);

    const pathway: PathwayInput = {
      nodes: [
        ...(ONE_NODE.nodes ?? []),
        { id: 'still', type: 'say', data: { title: 'Still', prompt: '{{ nothing }}' } },
      ],
      edges: [{ id: 'on', source: 'start', target: 'still' }],
    };
    const still = await asked([], { pathway });
    expect(still.transcript().slice(1)).toEqual([`user: ${QUESTION}`]);
    expect(still.errors).toEqual([]);
  });

  test('is accepted in a chat', async () => {
    const call = simulatedCall({ answer: () => ({}) });
    await call.hangUp();
    const chat = call.memory;
    const before = call.model.requests.length;
    expect(await chat.say('Hello.')).toBe('');
    expect(call.model.requests).toHaveLength(before + 1);
  });
});
