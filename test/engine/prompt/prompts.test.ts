import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** @param more - Appended to each prompt. */
function pathway(more = ''): PathwayInput {
  const tools = ['set_variable'];
  const thanks = `Thank {{ customer }} for {{ order }}.${more}`;
  return {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Greeting', prompt: `Greet them.${more}`, tools } },
      { id: 'thanks', type: 'conversation', data: { title: 'Thanks', prompt: thanks, tools } },
    ],
    edges: [{ id: 'e', source: 'start', target: 'thanks', data: { condition: 'They ordered.' } }],
  };
}

/** The system prompt of each model request. */
const prefixes = (model: ReturnType<typeof scriptedModel>) =>
  model.requests.map(({ messages }) => messages[0]?.content);

test('The prompt of a monolithic agent holds every step rendered', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  const conversation = memoryEngine({ model, pathway: pathway(), agent: { type: 'monolithic' } });
  await conversation.say('Hi', { variables: { customer: 'Ann' } });
  expect(prefixes(model)[0]).toContain('Thank Ann for .');
  expect(prefixes(model)[0]).not.toContain('{{');
});

test('The prompt stays the same until a variable that its steps use has changed', async () => {
  const model = scriptedModel((_request, index) => ({
    text: 'Noted.',
    calls:
      index === 1
        ? [{ name: 'set_variable', arguments: { name: 'unused', value: 'x' } }]
        : index === 3
          ? [{ name: 'set_variable', arguments: { name: 'order', value: 'tea' } }]
          : [],
  }));
  const timed = pathway(' {{ "now" | date: "%s.%L" }}');
  const conversation = memoryEngine({ model, pathway: timed, agent: { type: 'monolithic' } });
  await conversation.say('One', { variables: { customer: 'Ann' } });
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (const words of ['Two', 'Three', 'Four', 'Five']) await conversation.say(words);
  const [first, second, third, fourth, fifth] = prefixes(model);
  expect([second, third, fourth]).toEqual([first, first, first]);
  expect(fifth).toContain('Thank Ann for tea.');
});

test('A model is told weekday, date, time and zone at the end of what changes', async () => {
  const clock = createSimulatedClock(Date.UTC(2026, 10, 22, 6, 5));
  const model = scriptedModel(({ purpose }) =>
    purpose === 'route' ? { json: { edge: null } } : { text: 'Hello.' },
  );
  const agent = { executionMode: 'smart', timezone: 'Asia/Taipei' } as const;
  const conversation = memoryEngine({ model, pathway: pathway(), agent, clock });
  await conversation.say('Hi', { instructions: ['Be brief.'] });
  await conversation.say('One tea');
  const moment = 'Today is Sunday, 2026-11-22, 14:05 (Asia/Taipei, GMT+08:00).';
  for (const { messages } of model.requests) {
    const told = messages.filter(({ role, content }) => role === 'system' && content?.includes('Today is'));
    expect(told).toHaveLength(1);
    expect(told[0]?.content?.endsWith(`\n\n${moment}`)).toBe(true);
    expect(messages[0]).not.toBe(told[0]);
  }
  expect(new Set(model.requests.map(({ purpose }) => purpose))).toEqual(new Set(['answer', 'route']));
});

test('The rules for spoken words are not in the prompt of a chat', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  await memoryEngine({ model, pathway: pathway() }).say('Hi');
  expect(prefixes(model)[0]).not.toContain('spoken aloud');
});
