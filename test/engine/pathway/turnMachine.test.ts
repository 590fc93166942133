import { describe, expect, test } from 'vitest';
import { createGraph } from '../../../src/agents/pathway/graph.ts';
import { type PathwayInput, pathwaySchema } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { selectEdge, type TurnTrigger } from '../../../src/engine/pathway/selectEdge.ts';

type EdgeData = NonNullable<PathwayInput['edges'][number]['data']>;

/** A node `a` of the given type with these edges, named e0, e1 and on, all to a node `b`. */
function ways(
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
    trigger: options.trigger ?? { kind: 'words' },
    variables: options.variables ?? {},
    hasSpoken: options.hasSpoken ?? true,
  });
  return { choices: choices.map(({ id }) => id), otherwise: otherwise?.id ?? null };
}

const sentence: EdgeData = { condition: 'The caller agrees.' };
const always: EdgeData = { condition: null };
const adult: EdgeData = { condition: { '>=': [{ var: 'age' }, 18] } };

describe('the way out of a node', () => {
  test.each([
    ['no edge leads nowhere', [], {}, { choices: [], otherwise: null }],
    ['a sentence is to be judged', [sentence], {}, { choices: ['e0'], otherwise: null }],
    [
      'an unconditional edge is taken once the node has spoken',
      [always],
      {},
      { choices: [], otherwise: 'e0' },
    ],
    [
      'a transfer that failed takes its own edge',
      [always, { condition: { event: 'tool_result', ok: false, tool: 'transfer_call' } }],
      { trigger: { kind: 'tool_result', ok: false, tool: 'transfer_call' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'a transfer that failed is no answer of the customer’s',
      [always],
      { trigger: { kind: 'tool_result', ok: false, tool: 'transfer_call' } },
      { choices: [], otherwise: null },
    ],
    [
      'an unconditional edge waits for a node that has not spoken',
      [always],
      { hasSpoken: false },
      { choices: [], otherwise: null },
    ],
    [
      'a node with nothing to say does not hold the talk',
      [always],
      { hasSpoken: false, prompt: '' },
      { choices: [], otherwise: 'e0' },
    ],
    [
      'a node that waits for nobody is passed',
      [always],
      { hasSpoken: false, type: 'say' },
      { choices: [], otherwise: 'e0' },
    ],
    ['a true expression is taken', [adult], { variables: { age: 20 } }, { choices: [], otherwise: 'e0' }],
    ['a false expression is not', [adult], { variables: { age: 7 } }, { choices: [], otherwise: null }],
    [
      'sentences before the first certain edge are judged, those after it are not',
      [sentence, always, sentence],
      {},
      { choices: ['e0'], otherwise: 'e1' },
    ],
    [
      'a higher priority is looked at first',
      [sentence, { ...adult, priority: 5 }],
      { variables: { age: 20 } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'a fallback comes last',
      [{ condition: null, fallback: true }, sentence],
      {},
      { choices: ['e1'], otherwise: 'e0' },
    ],
    [
      'silence takes no unconditional edge',
      [always],
      { trigger: { kind: 'silence', durationMs: 5000 } },
      { choices: [], otherwise: null },
    ],
    [
      'silence long enough takes its edge',
      [{ condition: { event: 'silence', afterMs: 5000 } }],
      { trigger: { kind: 'silence', durationMs: 5000 } },
      { choices: [], otherwise: 'e0' },
    ],
    [
      'silence too short does not',
      [{ condition: { event: 'silence', afterMs: 5000 } }],
      { trigger: { kind: 'silence', durationMs: 4999 } },
      { choices: [], otherwise: null },
    ],
    [
      'a key takes the edge of that key',
      [{ condition: { event: 'dtmf', digits: '1' } }, { condition: { event: 'dtmf', digits: '2' } }],
      { trigger: { kind: 'dtmf', digits: '2' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'any key takes an edge without keys',
      [{ condition: { event: 'dtmf' } }],
      { trigger: { kind: 'dtmf', digits: '9' } },
      { choices: [], otherwise: 'e0' },
    ],
    [
      'words take no edge of an event',
      [{ condition: { event: 'dtmf' } }],
      {},
      { choices: [], otherwise: null },
    ],
    [
      'a failed tool takes the edge of failure',
      [{ condition: { event: 'tool_result', ok: true } }, { condition: { event: 'tool_result', ok: false } }],
      { trigger: { kind: 'tool_result', ok: false, tool: 't' } },
      { choices: [], otherwise: 'e1' },
    ],
    [
      'voicemail takes its edge',
      [sentence, { condition: { event: 'voicemail' } }],
      { trigger: { kind: 'voicemail' } },
      { choices: [], otherwise: 'e1' },
    ],
  ] as [string, EdgeData[], Parameters<typeof ways>[1], ReturnType<typeof ways>][])(
    '%s',
    (_name, edges, options, expected) => {
      expect(ways(edges, options)).toEqual(expected);
    },
  );
});
