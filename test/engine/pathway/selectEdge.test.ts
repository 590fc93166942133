import { describe, expect, test } from 'vitest';
import { createGraph } from '../../../src/agents/pathway/graph.ts';
import { type PathwayInput, pathwaySchema } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { selectEdge, type TurnTrigger, triggerOf } from '../../../src/engine/pathway/selectEdge.ts';

type EdgeData = NonNullable<PathwayInput['edges'][number]['data']>;

/** Selects from these edges, named e0, e1 and so on, from a node `a` of the given type to a node `b`. */
function select(
  edges: EdgeData[],
  options: {
    trigger?: TurnTrigger;
    hasSpoken?: boolean;
    type?: 'conversation' | 'say' | 'condition';
    prompt?: string;
    variables?: Record<string, unknown>;
  },
) {
  const { type = 'conversation', prompt = 'Talk.' } = options;
  const graph = createGraph(
    pathwaySchema.parse({
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Hi.' } },
        { id: 'a', type, data: { title: 'A', prompt } },
        { id: 'b', type: 'end', data: { title: 'B' } },
      ],
      edges: edges.map((data, index) => ({ id: `e${index}`, source: 'a', target: 'b', data })),
    }),
  );
  const node = graph.node('a');
  if (!node) throw new Error('no node');
  const { choices, otherwise } = selectEdge(graph, node, {
    trigger: options.trigger ?? { kind: 'user_message' },
    variables: () => options.variables ?? {},
    hasSpoken: options.hasSpoken ?? true,
  });
  return { choices: choices.map(({ id }) => id), otherwise: otherwise?.id ?? null };
}

const sentence: EdgeData = { condition: 'The caller agrees.' };
const always: EdgeData = { condition: null };
const adult: EdgeData = { condition: { '>=': [{ var: 'age' }, 18] } };

describe('selectEdge', () => {
  test.each([
    ['stays at a node without edges', [], {}, { choices: [], otherwise: null }],
    ['leaves a sentence to a model', [sentence], {}, { choices: ['e0'], otherwise: null }],
    ['takes an unconditional edge once the node was spoken', [always], {}, { choices: [], otherwise: 'e0' }],
    [
      'takes the edge of a failed transfer',
      [always, { condition: { event: 'tool_result', ok: false, tool: 'transfer_call' } }],
      { trigger: { kind: 'tool_result', ok: false, tool: 'transfer_call' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes no unconditional edge after a failed transfer',
      [always],
      { trigger: { kind: 'tool_result', ok: false, tool: 'transfer_call' } },
      { choices: [], otherwise: null },
    ],
    [
      'takes no unconditional edge before the node was spoken',
      [always],
      { hasSpoken: false },
      { choices: [], otherwise: null },
    ],
    [
      'takes the unconditional edge of a node without a prompt',
      [always],
      { hasSpoken: false, prompt: '' },
      { choices: [], otherwise: 'e0' },
    ],
    [
      'takes the unconditional edge of a node that does not wait for the customer',
      [always],
      { hasSpoken: false, type: 'say' },
      { choices: [], otherwise: 'e0' },
    ],
    [
      'takes the edge of speech that was not understood',
      [always, { fallback: true }, { condition: { event: 'not_understood' } }],
      { trigger: { kind: 'not_understood' } },
      { choices: [], otherwise: 'e2' },
    ],
    [
      'takes the fallback where speech was not understood, and neither an unconditional edge, a sentence nor an expression',
      [always, sentence, adult, { fallback: true }],
      { trigger: { kind: 'not_understood' }, variables: { age: 20 }, hasSpoken: false },
      { choices: [], otherwise: 'e3' },
    ],
    [
      'takes no edge for speech that was not understood without one for it',
      [always, sentence, adult],
      { trigger: { kind: 'not_understood' }, variables: { age: 20 } },
      { choices: [], otherwise: null },
    ],
    ['takes a true expression', [adult], { variables: { age: 20 } }, { choices: [], otherwise: 'e0' }],
    ['takes no false expression', [adult], { variables: { age: 7 } }, { choices: [], otherwise: null }],
    [
      'takes an unconditional edge before every sentence and expression',
      [sentence, { ...adult, priority: 9 }, always],
      { variables: { age: 20 } },
      { choices: [], otherwise: 'e2' },
    ],
    [
      'hides sentences and expressions behind an unconditional edge that is not free yet',
      [sentence, adult, always],
      { variables: { age: 20 }, hasSpoken: false },
      { choices: [], otherwise: null },
    ],
    [
      'takes the unconditional edge of the highest priority',
      [always, { ...always, priority: 1 }],
      {},
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes an expression before a sentence of a higher priority',
      [{ ...sentence, priority: 9 }, adult],
      { variables: { age: 20 } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes the edge of an event before an unconditional one',
      [always, { condition: { event: 'dtmf', digits: '1' } }],
      { trigger: { kind: 'dtmf', digits: '1' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes the shortest of several silence edges',
      [
        { condition: { event: 'silence', afterMs: 5000 }, priority: 9 },
        { condition: { event: 'silence', afterMs: 3000 } },
      ],
      { trigger: { kind: 'silence', durationMs: 6000 } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes a silence edge without a time after the default silence',
      [{ condition: { event: 'silence' } }],
      { trigger: { kind: 'silence', durationMs: 7999 } },
      { choices: [], otherwise: null },
    ],
    [
      'tries a higher priority first',
      [sentence, { ...adult, priority: 5 }],
      { variables: { age: 20 } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'tries a fallback last',
      [{ condition: null, fallback: true }, sentence],
      {},
      { choices: ['e1'], otherwise: 'e0' },
    ],
    [
      'takes no unconditional edge on silence',
      [always],
      { trigger: { kind: 'silence', durationMs: 5000 } },
      { choices: [], otherwise: null },
    ],
    [
      'takes the edge of a DTMF digit',
      [{ condition: { event: 'dtmf', digits: '1' } }, { condition: { event: 'dtmf', digits: '2' } }],
      { trigger: { kind: 'dtmf', digits: '2' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes the failure edge of a failed tool',
      [{ condition: { event: 'tool_result', ok: true } }, { condition: { event: 'tool_result', ok: false } }],
      { trigger: { kind: 'tool_result', ok: false, tool: 't' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes the voicemail edge',
      [sentence, { condition: { event: 'voicemail' } }],
      { trigger: { kind: 'voicemail' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'takes the screening edge before a sentence and an unconditional edge',
      [sentence, { condition: null }, { condition: { event: 'screening' } }],
      { trigger: { kind: 'user_message', isScreening: true } },
      { choices: [], otherwise: 'e2' },
    ],
  ] as [string, EdgeData[], Parameters<typeof select>[1], ReturnType<typeof select>][])(
    '%s',
    (_name, edges, options, expected) => {
      expect(select(edges, options)).toEqual(expected);
    },
  );
});

const failed: TurnTrigger = { kind: 'tool_result', ok: false, tool: 'a' };
const ran: TurnTrigger = { kind: 'client_tools', tools: ['a', 'b'] };
const busy: TurnTrigger = { ...failed, transfer: 'busy' };
test.each<[Extract<EdgeData['condition'], { event: string }>, TurnTrigger, boolean]>([
  [{ event: 'dtmf', digits: '1' }, { kind: 'dtmf', digits: '2' }, false],
  [{ event: 'dtmf' }, { kind: 'dtmf', digits: '9' }, true],
  [{ event: 'dtmf' }, { kind: 'user_message' }, false],
  [{ event: 'silence', afterMs: 5000 }, { kind: 'silence', durationMs: 5000 }, true],
  [{ event: 'silence', afterMs: 5000 }, { kind: 'silence', durationMs: 4999 }, false],
  [{ event: 'screening' }, { kind: 'user_message' }, false],
  [{ event: 'tool_result' }, failed, true],
  [{ event: 'tool_result', tool: 'b' }, failed, false],
  [{ event: 'tool_result', ok: true }, failed, false],
  [{ event: 'tool_result' }, { kind: 'voicemail' }, false],
  [{ event: 'tool_result' }, ran, true],
  [{ event: 'tool_result', ok: true, tool: 'b' }, ran, true],
  [{ event: 'tool_result', ok: false }, ran, false],
  [{ event: 'tool_result', tool: 'c' }, ran, false],
  [{ event: 'transfer' }, busy, true],
  [{ event: 'transfer', outcome: 'busy' }, busy, true],
  [{ event: 'transfer', outcome: 'no_answer' }, busy, false],
  [{ event: 'transfer' }, failed, false],
  [{ event: 'transfer' }, { kind: 'voicemail' }, false],
  [{ event: 'voicemail' }, failed, false],
  [{ event: 'screening' }, failed, false],
])('An edge for %j after %j is taken: %j', (condition, trigger, isTaken) => {
  expect(select([{ condition }], { trigger }).otherwise).toBe(isTaken ? 'e0' : null);
});

test.each([
  [{ kind: 'begin' }, 'begin'],
  [{ kind: 'user_message', text: 'Hi' }, { kind: 'user_message' }],
  [
    { kind: 'user_message', text: 'Who is it?', isScreening: true },
    { kind: 'user_message', isScreening: true },
  ],
  [{ kind: 'given_back', answersCustomer: true }, { kind: 'user_message' }],
  [{ kind: 'given_back', answersCustomer: false }, 'begin'],
  [
    { kind: 'dtmf', digits: '1' },
    { kind: 'dtmf', digits: '1' },
  ],
  [{ kind: 'channel_error', code: 'c', message: 'm' }, { kind: 'passed' }],
  [{ kind: 'unanswered_message', text: 'bye' }, { kind: 'passed' }],
  [
    {
      kind: 'tool_results',
      results: [
        { id: '1', name: 'book', content: '' },
        { id: '2', content: '' },
      ],
    },
    { kind: 'client_tools', tools: ['book', ''] },
  ],
  [
    { kind: 'transfer_failed', outcome: 'busy' },
    { kind: 'tool_result', ok: false, tool: 'transfer_call', transfer: 'busy' },
  ],
])('A turn of %j moves by %j', (input, trigger) => {
  expect(triggerOf(input as never)).toEqual(trigger);
});
