import { describe, expect, test } from 'vitest';
import { newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { createGraph } from '../../../src/agents/pathway/graph.ts';
import { type PathwayInput, pathwaySchema } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { AgentRelease } from '../../../src/agents/releases/release.ts';
import {
  PromptPrefixes,
  routePrompt,
  type StepPromptInput,
  stepPrompt,
  withInstructions,
  withStep,
} from '../../../src/engine/prompt/prompts.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { SpokenDelivery } from '../../../src/engine/turn/delivery.ts';
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

describe('The prompt of a step', () => {
  const graph = createGraph(
    pathwaySchema.parse({
      nodes: [
        {
          id: 'start',
          type: 'start',
          data: { title: 'Order', prompt: 'Ask for {{ drink }}.', expectedAnswers: ['tea', 'a "latte"'] },
        },
        { id: 'pay', type: 'conversation', data: { title: 'Pay', prompt: 'Take the money.' } },
      ],
      edges: [
        { id: 'done', source: 'start', target: 'pay', data: { condition: 'They ordered.' } },
        { id: 'skip', source: 'start', target: 'pay', data: { condition: 'They pay.' } },
      ],
    }),
  );
  const node = graph.node('start') ?? expect.unreachable();
  const parts = (more: Partial<StepPromptInput> & { readonly type?: 'skill' }) => {
    const { type = 'monolithic', ...input } = more;
    const agent = { ...newAgentConfig('Test'), type };
    const asked = {
      release: { agent } as AgentRelease,
      graph,
      node,
      moves: [],
      variables: {},
      knowledge: [],
      ask: [],
      instructions: [],
    };
    const prompt = stepPrompt({
      ...asked,
      now: 'noon',
      render: (text) => text.replace('{{ drink }}', 'tea'),
      ...input,
    });
    const [step, ...rest] = prompt.split('\n\n');
    expect(step).toBe('You are at this step:\n## Order (start)\nAsk for tea.');
    expect(rest.pop()).toBe('Today is noon.');
    return rest;
  };
  const moves = graph.leaving('start');
  const answers = 'The person may answer at this step: "tea", "a \\"latte\\""';
  const one = { type: 'string', required: true } as const;
  const found = { score: 1, datasetId: 'd', chunkId: 'c' };

  test.each<[string, Parameters<typeof parts>[0], unknown[]]>([
    ['nothing more by itself', {}, []],
    [
      'the steps that may come next, for a skill',
      { type: 'skill' },
      ['Steps that may come next:', '## Pay (conversation)\nTake the money.'],
    ],
    [
      'the way on beside the words',
      { moves },
      [expect.stringContaining('in the same answer speak'), answers],
    ],
    [
      'the way on before the words, of a model that speaks itself',
      { moves, speaksItself: true },
      [expect.stringContaining('before you say anything'), answers],
    ],
    [
      'what to ask for',
      {
        ask: [
          { ...one, name: 'size', description: 'How big', values: ['S', 'L'] },
          { ...one, name: 'name', description: 'Whose' },
        ],
      },
      [
        'Before the conversation goes on, ask the person for this, and for nothing else:\n- size: How big (S, L)\n- name: Whose',
      ],
    ],
    [
      'what is known',
      { variables: { name: 'Ann', none: null, empty: '', no: false } },
      ['Known facts (JSON): {"name":"Ann","no":false}'],
    ],
    ['nothing known where all is empty', { variables: { none: null } }, []],
    [
      'passages by number',
      {
        knowledge: [
          { ...found, content: 'A.', source: 'a.pdf' },
          { ...found, content: 'B.' },
        ],
      },
      [expect.stringMatching(/^Answer from these passages, .*:\n\[1\] \(a\.pdf\) A\.\n\[2\] .*B\.$/s)],
    ],
    ['the language', { language: 'zh-TW' }, [expect.stringMatching(/^Answer in this language: .*Chinese/)]],
    [
      'the instructions of the request',
      { instructions: ['Be brief.', 'Be kind.'] },
      ['For this answer:\nBe brief.\nBe kind.'],
    ],
  ])('has %s', (_what, input, expected) => {
    expect(parts(input)).toEqual(expected);
  });

  test('asks which edge holds, by its id', () => {
    expect(routePrompt(node, moves, (text) => text).split('\n\n')).toEqual([
      'The conversation above is at this step:\n## Order (start)\nAsk for {{ drink }}.',
      answers,
      expect.stringMatching(/\n- done: They ordered\.\n- skip: They pay\.$/),
    ]);
  });

  const said = (role: 'system' | 'user' | 'assistant') => ({ role, content: role });
  const tool = { role: 'tool', toolCallId: 'a', content: 'ok' } as const;
  const [rules, user, agent] = [said('system'), said('user'), said('assistant')];
  const step = { role: 'system', content: 'S' } as const;
  test.each([
    ['before what the person said last', [rules, user, agent, user], [rules, user, agent, step, user]],
    [
      'before their words that a tool’s result answers',
      [rules, user, agent, tool],
      [rules, step, user, agent, tool],
    ],
    ['last where the agent speaks unasked', [rules, user, agent], [rules, user, agent, step]],
    ['last where a tool was called before any word', [rules, tool], [rules, tool, step]],
  ])('stands %s', (_where, messages, expected) => {
    expect(withStep(messages, 'S')).toEqual(expected);
  });

  test('is in the first message for a model that keeps the conversation', () => {
    expect(withInstructions([rules, user], 'S')).toEqual([{ role: 'system', content: 'system\n\nS' }, user]);
  });
});

test.each([
  ['chat', false, {}],
  ['spoken', true, { executionMode: 'turbo', globalPrompt: 'Be {{ mood }}.' }],
] as const)(
  'The prompt before a %s conversation has the rules, and what the agent and the person bring',
  (_kind, isSpoken, agent) => {
    const session = { instanceId: 'i', state: { memory: isSpoken ? 'They like tea.' : null } } as Session;
    const release = {
      agent: { ...newAgentConfig('Test'), executionMode: 'balance', ...agent },
      pathway: { nodes: [] },
    } as unknown as AgentRelease;
    const text = new PromptPrefixes().of({
      session,
      release,
      journal: { variables: {} },
      render: (template) => template.replace('{{ mood }}', 'kind'),
      request: isSpoken ? { delivery: {} as SpokenDelivery } : {},
    });
    expect(text).toContain('you follow a pathway of steps');
    for (const part of [
      'spoken aloud',
      'two short sentences',
      'Be kind.',
      'earlier conversations:\nThey like tea.',
    ])
      expect(text.includes(part)).toBe(isSpoken);
  },
);
