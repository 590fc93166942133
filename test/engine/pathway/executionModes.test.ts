import { describe, expect, test } from 'vitest';
import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { type MemoryEngine, memoryEngine } from '../../support/memoryEngine.ts';
import { edgesOf, nodeOf, type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';

type EdgeData = NonNullable<PathwayInput['edges'][number]['data']>;

const MODES = ['smart', 'balance', 'turbo'] as const;

const sentence: EdgeData = { condition: 'The person agrees.' };
const always: EdgeData = { condition: null };
const isVip: EdgeData = { condition: { '==': [{ var: 'tier' }, 'vip'] } };
const onDigit: EdgeData = { condition: { event: 'dtmf' } };

/** A node `ask`, with edges to `e0`, `e1` and so on, and a global edge to a node that returns. */
const pathwayOf = (edges: readonly EdgeData[], everywhere: boolean): PathwayInput => ({
  nodes: [
    { id: 'ask', type: 'start', data: { title: 'ask', prompt: 'Ask for a day.' } },
    ...edges.map((_data, index) => ({
      id: `e${index}`,
      type: 'conversation' as const,
      data: { title: `e${index}`, prompt: 'Talk.' },
    })),
    { id: 'hours', type: 'conversation', data: { title: 'hours', prompt: 'Tell the hours.', returns: true } },
  ],
  edges: [
    ...edges.map((data, index) => ({ id: `to-e${index}`, source: 'ask', target: `e${index}`, data })),
    ...(everywhere
      ? [{ id: 'hours', source: '*', target: 'hours', data: { condition: 'The person asks for the hours.' } }]
      : []),
  ],
});

/** Speaks as the node that it is asked for, and takes this edge wherever it is offered. */
const takes =
  (edge: string | null) =>
  (request: ChatRequest): ScriptedAnswer => {
    if (request.purpose === 'route') return { json: { edge: offers(request, edge) ? edge : null } };
    if (request.purpose === 'answer_and_route' && offers(request, edge))
      return { calls: [{ name: 'move_to', arguments: { edge } }] };
    return { text: `as ${nodeOf(request)}` };
  };

function offers(request: ChatRequest, edge: string | null): boolean {
  return edge !== null && edgesOf(request).includes(edge);
}

async function greeted(
  executionMode: AgentConfig['executionMode'],
  pathway: PathwayInput,
  model: ReturnType<typeof scriptedModel>,
  variables: Record<string, unknown> = {},
): Promise<MemoryEngine> {
  const conversation = memoryEngine({ model, pathway, agent: { executionMode } });
  await conversation.turn({ kind: 'begin' }, { variables });
  return conversation;
}

interface Case {
  readonly edges: readonly EdgeData[];
  /** Default: words. */
  readonly digits?: string;
  readonly tier?: string;
  /** The edge that the model takes where it may. */
  readonly edge?: string;
  readonly everywhere?: boolean;
  readonly expected: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'stays where no sentence holds': { edges: [sentence], expected: 'ask' },
  'takes the sentence that the model selects': {
    edges: [sentence, { condition: 'No.' }],
    edge: 'to-e1',
    expected: 'e1',
  },
  'takes an unconditional edge without asking the model': { edges: [always], expected: 'e0' },
  'takes an unconditional edge before a sentence': {
    edges: [sentence, always],
    edge: 'to-e0',
    expected: 'e1',
  },
  'takes an unconditional edge before a true expression of a higher priority': {
    edges: [{ ...isVip, priority: 9 }, always],
    tier: 'vip',
    expected: 'e1',
  },
  'takes the unconditional edge of the highest priority': {
    edges: [always, { ...always, priority: 1 }],
    expected: 'e1',
  },
  'takes a true expression before a sentence': {
    edges: [{ ...sentence, priority: 9 }, isVip],
    tier: 'vip',
    edge: 'to-e0',
    expected: 'e1',
  },
  'takes no false expression': { edges: [isVip], tier: 'none', expected: 'ask' },
  'takes a fallback where no sentence holds': {
    edges: [{ ...always, fallback: true }, sentence],
    expected: 'e0',
  },
  'takes a sentence before a fallback': {
    edges: [{ ...always, fallback: true }, sentence],
    edge: 'to-e1',
    expected: 'e1',
  },
  'takes the edge of an event before an unconditional one': {
    edges: [always, onDigit],
    digits: '1',
    expected: 'e1',
  },
  'takes a global edge before an unconditional one': {
    edges: [always],
    edge: 'hours',
    everywhere: true,
    expected: 'hours',
  },
  'takes the unconditional edge where no global one holds': {
    edges: [always],
    everywhere: true,
    expected: 'e0',
  },
};

describe.each(MODES)('The %s mode', (mode) => {
  test.each(Object.entries(CASES))('%s', async (_name, given) => {
    const { edges, digits, tier, edge = null, everywhere = false, expected } = given;
    const model = scriptedModel(takes(edge));
    const conversation = await greeted(mode, pathwayOf(edges, everywhere), model, { tier });
    const before = model.requests.length;
    const outputs = await conversation.turn(
      digits === undefined ? { kind: 'user_message', text: 'Well…' } : { kind: 'dtmf', digits },
    );
    const said = outputs.flatMap((output) => (output.type === 'text' ? [output.text] : []));
    expect(said).toEqual([`as ${expected}`]);
    expect(conversation.session().state).toMatchObject({ currentNodeId: expected, hasSpoken: true });
    expect(conversation.session().state.messages.at(-1)).toMatchObject({ nodeId: expected });
    // An unconditional edge alone costs no verdict.
    if (edges.every(({ condition }) => condition === null) && !everywhere)
      expect(model.requests.length - before).toBe(1);
  });

  test('stays at the node after a verdict that cannot be read, notes it and goes on', async () => {
    const model = scriptedModel((request) =>
      request.purpose === 'route' ? { text: 'I think e0?' } : { text: `as ${nodeOf(request)}` },
    );
    const fallback = { ...always, fallback: true };
    const conversation = await greeted(mode, pathwayOf([sentence, fallback], false), model);
    expect(await conversation.say('Well…')).toBe('as ask');
    expect(conversation.session().state.currentNodeId).toBe('ask');
    expect(conversation.events().filter(({ type }) => type === 'error')).toMatchObject([
      { data: { code: 'route_failed', nodeId: 'ask' } },
    ]);
    expect(await conversation.say('Hello?')).toBe('as ask');
  });

  test('returns from a node that a global edge led to on the person’s next turn', async () => {
    let edge: string | null = 'hours';
    const model = scriptedModel((request) => takes(edge)(request));
    const conversation = await greeted(mode, pathwayOf([sentence], true), model);
    expect(await conversation.say('When are you open?')).toBe('as hours');
    expect(conversation.session().state.currentNodeId).toBe('hours');
    edge = 'to-e0';
    expect(await conversation.say('Then yes')).toBe('as e0');
    const entered = conversation
      .events()
      .flatMap(({ type, data }) => (type === 'node_entered' ? [data] : []));
    expect(entered.map(({ nodeId, why }) => [nodeId, why])).toEqual([
      ['ask', 'begin'],
      ['hours', 'The person asks for the hours.'],
      ['ask', 'returned'],
      ['e0', 'The person agrees.'],
    ]);
  });

  test('gives the expected answers to the model that selects the edge', async () => {
    const model = scriptedModel(takes(null));
    const pathway = pathwayOf([sentence], false);
    const [ask, ...rest] = pathway.nodes;
    const nodes = [{ ...ask, data: { ...ask?.data, expectedAnswers: ['as soon as possible'] } }, ...rest];
    const conversation = await greeted(mode, { ...pathway, nodes } as PathwayInput, model);
    await conversation.say('Soon');
    const routing = model.requests.filter(
      ({ purpose }) => purpose === 'route' || purpose === 'answer_and_route',
    );
    expect(routing.length).toBe(1);
    expect(JSON.stringify(routing[0]?.messages)).toContain('as soon as possible');
  });
});
