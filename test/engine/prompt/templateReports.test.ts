import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

/** Stored before templates were checked: a save refuses it. */
const BROKEN = 'Speak for {{ company }}. {% if vip %}Be fast.';

const conversationWith = (prompt: string): PathwayInput => ({
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt } }],
  edges: [],
});

test('A broken template renders what it can, is reported once, and does not end the conversation', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  const conversation = memoryEngine({
    model,
    pathway: conversationWith('Talk.'),
    agent: { globalPrompt: BROKEN },
  });
  const variables = { company: 'Acme' };
  expect(await conversation.say('Hi', { variables })).toBe('Hello.');
  expect(await conversation.say('Hi again')).toBe('Hello.');
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Speak for Acme. Be fast.');
  const reason = expect.stringContaining('tag {% if vip %} not closed');
  expect(conversation.templateProblems).toEqual([{ kind: 'failed', reason }]);
  expect(conversation.events().filter(({ type }) => type === 'error')).toEqual([
    expect.objectContaining({ data: { code: 'template_error', message: reason } }),
  ]);
});

test('A missing variable is reported once per session and variable', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  const conversation = memoryEngine({
    model,
    pathway: conversationWith('Greet {{ name }} of {{ company }}.'),
  });
  for (const text of ['Hi', 'Hi again', 'Still here']) await conversation.say(text);
  expect(conversation.templateProblems).toEqual([
    { kind: 'missing_variable', variable: 'name' },
    { kind: 'missing_variable', variable: 'company' },
  ]);
});

test.each([
  ['Hi {{ name }} {{ name | nofilter }}!', 'Hi Ann !'],
  ['Hi {{ name }}, {% if vip %}dear', 'Hi Ann, dear'],
  ['Hi {{ name }}. {{ name', 'Hi Ann. '],
  ['{% for i in (1..10000000) %}a{% endfor %}{{ name }}', 'Ann'],
])('A say node with the failing template %j says %j', async (prompt, expected) => {
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Start' } },
      { id: 'say', type: 'say', data: { title: 'Say', prompt } },
    ],
    edges: [{ id: 'begin', source: 'start', target: 'say' }],
  };
  const conversation = memoryEngine({ model: scriptedModel(() => ({})), pathway });
  const outputs = await conversation.turn({ kind: 'begin' }, { variables: { name: 'Ann' } });
  expect(outputs).toContainEqual({ type: 'text', text: expected });
});
