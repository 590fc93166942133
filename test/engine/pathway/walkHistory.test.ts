import { describe, expect, test } from 'vitest';

import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { ExternalMessage } from '../../../src/engine/turn/turn.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const user = (content: string): ExternalMessage => ({ role: 'user', content });
const agent = (content: string): ExternalMessage => ({ role: 'assistant', content });

const node = (id: string, type: string, prompt: string, more: object = {}) => ({
  id,
  type,
  data: { title: id, prompt, ...more },
});
const edge = (source: string, target: string, condition: unknown) => ({
  id: `${source}_${target}`,
  source,
  target,
  data: { condition },
});

const BOOKING = {
  nodes: [
    node('start', 'start', 'Greet them.'),
    node('rules', 'say', 'Our rules are simple.'),
    node('book', 'tool', '', { tools: ['tool-1'] }),
    node('size', 'conversation', 'Ask for the size of the party.'),
    node('large', 'conversation', 'Offer the hall.'),
    node('small', 'conversation', 'Offer a table.'),
    node('bye', 'end', 'Say goodbye.'),
  ],
  edges: [
    edge('start', 'rules', 'They want to book'),
    edge('rules', 'book', null),
    edge('book', 'size', null),
    edge('size', 'large', { '>': [{ var: 'party' }, 8] }),
    edge('size', 'small', { '<=': [{ var: 'party' }, 8] }),
    edge('small', 'bye', 'They have finished'),
    edge('large', 'bye', 'They have finished'),
  ],
} as unknown as PathwayInput;

const TOOL = {
  id: 'tool-1',
  name: 'book',
  description: '',
  parameters: { type: 'object' },
  http: { method: 'POST', url: 'https://example.com' },
} as const;

/** A model that knows which edge each word takes. */
function booking(executionMode: 'smart' | 'balance' | 'turbo') {
  const runs: string[] = [];
  const model = scriptedModel(({ purpose, messages }) => {
    const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    if (purpose === 'extract')
      return { json: { party: /(\d+)/.exec(said)?.[1] ? Number(/(\d+)/.exec(said)?.[1]) : null } };
    if (purpose !== 'route') return { text: 'An answer.' };
    if (said.includes('book')) return { json: { edge: 'start_rules' } };
    const from = messages.at(-1)?.content?.includes('Offer the hall') ? 'large' : 'small';
    return { json: { edge: said.includes('done') ? `${from}_bye` : null } };
  });
  const conversation = memoryEngine({
    model,
    pathway: BOOKING,
    agent: {
      executionMode,
      variableConfigs: [{ name: 'party', type: 'number', description: 'How many people' }],
    },
    tools: [TOOL as never],
    toolRunner: {
      async run({ name }) {
        runs.push(name);
        return { ok: true, text: 'booked' };
      },
    },
  });
  const purposes = () => model.requests.map(({ purpose }) => purpose);
  return { conversation, runs, purposes };
}

describe.each(['smart', 'balance', 'turbo'] as const)('A history that is walked in the mode %s', (mode) => {
  test('takes the edges that it took, and nothing is said or run again', async () => {
    const { conversation, runs, purposes } = booking(mode);
    const history = [
      user('I want to book'),
      agent('Our rules are simple.\nFor how many?'),
      user('We are 12'),
      agent('Then take the hall.'),
    ];
    const said = await conversation.say('How big is it?', { history, walksHistory: true });
    expect(said).toBe('An answer.');
    const { currentNodeId, messages, variables } = conversation.session().state;
    expect(currentNodeId).toBe('large');
    expect(variables).toMatchObject({ party: 12 });
    expect(messages.map(({ role, content, nodeId }) => [role, content, nodeId])).toEqual([
      ['user', 'I want to book', undefined],
      ['assistant', 'Our rules are simple.\nFor how many?', 'size'],
      ['user', 'We are 12', undefined],
      ['assistant', 'Then take the hall.', 'large'],
      ['user', 'How big is it?', undefined],
      ['assistant', 'An answer.', 'large'],
    ]);
    expect(runs).toEqual([]);
    const spoken = purposes().filter((purpose) => purpose === 'answer' || purpose === 'answer_and_route');
    expect(spoken).toHaveLength(1);
    const entered = conversation.events().filter(({ type }) => type === 'node_entered');
    expect(entered.map(({ data }) => data.nodeId)).toEqual(['start', 'rules', 'book', 'size', 'large']);
  });
});

test('A conversation that had ended begins anew', async () => {
  const { conversation } = booking('smart');
  const history = [
    user('I want to book'),
    agent('For how many?'),
    user('2'),
    agent('A table, then.'),
    user('done'),
    agent('Goodbye.'),
  ];
  await conversation.say('One more thing', { history, walksHistory: true });
  expect(conversation.session().state.currentNodeId).toBe('start');
  expect(conversation.endings).toEqual([]);
});

test('A history is walked again after its turn failed', async () => {
  const failing = { current: true };
  const model = scriptedModel(({ purpose }) => {
    if (purpose === 'route') return { json: { edge: 'start_rules' } };
    if (purpose === 'extract') return { json: {} };
    return failing.current ? { fail: new Error('away') } : { text: 'For how many?' };
  });
  const conversation = memoryEngine({
    model,
    pathway: BOOKING,
    agent: { executionMode: 'smart' },
    tools: [TOOL as never],
  });
  const history = [user('I want to book'), agent('For how many?')];
  await expect(conversation.say('Pardon?', { history, walksHistory: true })).rejects.toThrow('away');
  expect(conversation.session().state).toMatchObject({ messages: [], currentNodeId: null });
  failing.current = false;
  await conversation.say('Pardon?', { history, walksHistory: true });
  expect(conversation.session().state.messages).toHaveLength(4);
});
