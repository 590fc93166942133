import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reviewInput, reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { NODE_TYPES } from '../../../../src/agents/pathway/schema/nodeSchema.ts';
import { sketch, sketchEdge, sketchNode } from '../support/sketch.ts';

const known = { toolIds: new Set(['lookup']) };
const start = sketchNode('s', 'start');
const talk = sketchNode('c', 'conversation');
const end = sketchNode('e', 'end');
const whenDone = { condition: 'The caller is done.' };
const isOpen = { condition: { '==': [{ var: 'state' }, 'open'] } };

/** The problems of a graph, as `severity code path`. */
function review(nodes: readonly object[], edges: readonly object[], variables?: readonly string[]): string[] {
  const { valid, problems } = reviewPathway(sketch(nodes, edges), {
    ...known,
    ...(variables && { variables: new Set(variables) }),
  });
  expect(valid).toBe(!problems.some(({ severity }) => severity === 'error'));
  return problems.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

describe('reviewPathway', () => {
  it('finds no problem in a valid pathway', () => {
    const nodes = [
      start,
      talk,
      sketchNode('t', 'tool'),
      sketchNode('y', 'say'),
      sketchNode('x', 'transfer'),
      end,
    ];
    const edges = [
      sketchEdge('s>c'),
      sketchEdge('c>t', { condition: 'The caller gave a number.' }),
      sketchEdge('c>x', { condition: { event: 'dtmf', digits: '0' } }),
      sketchEdge('c>e', whenDone),
      sketchEdge('t>y', { condition: { event: 'tool_result', ok: false } }),
      sketchEdge('t>c', { condition: { event: 'tool_result', ok: true } }),
      sketchEdge('y>c', {}),
      sketchEdge('x>c', { condition: { event: 'tool_result', ok: false } }),
    ];
    expect(review(nodes, edges)).toEqual([]);
  });

  it('reports structure errors as errors', () => {
    expect(review([end, talk], [sketchEdge('c>x')])).toEqual([
      'error no_start_node /nodes',
      'error unknown_node /edges/0/target',
    ]);
  });

  it('reports an unreachable node', () => {
    const nodes = [start, end, talk];
    expect(review(nodes, [sketchEdge('s>e'), sketchEdge('c>e', whenDone)])).toEqual([
      'warning unreachable_node /nodes/2',
    ]);
  });

  it('reports a pathway without an end', () => {
    expect(review([start, talk], [sketchEdge('s>c')])).toEqual(['warning no_end_node /nodes']);
    expect(review([start, talk, end], [sketchEdge('s>c')])).toEqual([
      'warning unreachable_node /nodes/2',
      'warning no_end_reachable /nodes',
    ]);
    const farewell = sketchNode('c', 'conversation', { tools: ['end_call'] });
    expect(review([start, farewell], [sketchEdge('s>c')])).toEqual([]);
  });

  it.each(['say', 'condition', 'knowledge', 'tool', 'start'] as const)(
    'reports a %s node without outgoing edges',
    (type) => {
      const nodes = [sketchNode('a', type), ...(type === 'start' ? [] : [start]), talk, end];
      const edges = [
        ...(type === 'start' ? [] : [sketchEdge('s>c')]),
        sketchEdge('c>a', whenDone),
        sketchEdge('c>e', { condition: 'no' }),
      ];
      const found = review(nodes, type === 'start' ? [] : edges);
      expect(found).toContain('warning dead_end /nodes/0');
    },
  );

  it('accepts a conversation node or an end_call tool without outgoing edges', () => {
    const hangUp = sketchNode('t', 'tool', { tools: ['end_call'] });
    expect(review([start, talk, hangUp], [sketchEdge('s>c'), sketchEdge('c>t', whenDone)])).toEqual([]);
  });

  it('reports a node that stops when no condition matches', () => {
    const fork = [start, sketchNode('f', 'condition'), end];
    expect(review(fork, [sketchEdge('s>f'), sketchEdge('f>e', isOpen)])).toEqual([
      'warning no_default_edge /nodes/1',
    ]);
    const fallback = sketchEdge('f>e', { fallback: true }, 'else');
    expect(review(fork, [sketchEdge('s>f'), sketchEdge('f>e', isOpen), fallback])).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ ok: true }, ['warning no_default_edge /nodes/1']],
    [{ ok: false }, ['warning no_default_edge /nodes/1']],
    [{ tool: 'lookup', ok: true }, ['warning no_default_edge /nodes/1']],
    [{}, []],
    [{ tool: 'lookup' }, []],
  ])('requires an edge for every result of a tool node; given: %j', (result, expected) => {
    const nodes = [start, sketchNode('t', 'tool'), end];
    const onResult = sketchEdge('t>e', { condition: { event: 'tool_result', ...result } });
    expect(review(nodes, [sketchEdge('s>t'), onResult])).toEqual(expected);
  });

  it('reports a say node without a text', () => {
    const nodes = [start, sketchNode('y', 'say', { prompt: ' ' }), end];
    expect(review(nodes, [sketchEdge('s>y'), sketchEdge('y>e')])).toEqual([
      'warning nothing_to_say /nodes/1',
    ]);
  });
});

describe('Dead edges', () => {
  const nodes = [start, talk, end];
  const wayOut = sketchEdge('c>e', { condition: { event: 'dtmf', digits: '0' } }, 'way out');
  const fromTalk = (...edges: object[]) => review(nodes, [sketchEdge('s>c'), wayOut, ...edges]);

  it.each<[string, object[], string[]]>([
    [
      'behind an unconditional one',
      [sketchEdge('c>c', {}, 'a'), sketchEdge('c>e', { condition: 'no' }, 'b')],
      ['warning edge_behind_unconditional /edges/3'],
    ],
    [
      'an expression beside an unconditional one, of whatever priority',
      [sketchEdge('c>e', {}, 'a'), sketchEdge('c>e', { ...isOpen, priority: 1 }, 'b')],
      ['warning edge_behind_unconditional /edges/3'],
    ],
    [
      'but none beside an unconditional fallback',
      [
        sketchEdge('c>e', { fallback: true }, 'a'),
        sketchEdge('c>e', { condition: 'no' }, 'b'),
        sketchEdge('c>e', isOpen, 'd'),
      ],
      [],
    ],
    [
      'behind an expression that is always true',
      [sketchEdge('c>e', { condition: { '==': [1, 1] } }, 'a'), sketchEdge('c>e', isOpen, 'b')],
      ['warning edge_behind_unconditional /edges/3'],
    ],
    [
      'a fallback beside an unconditional one',
      [sketchEdge('c>e', { fallback: true, priority: 9 }, 'a'), sketchEdge('c>e', {}, 'b')],
      ['warning edge_behind_unconditional /edges/2'],
    ],
    [
      'a second unconditional one',
      [sketchEdge('c>e', {}, 'a'), sketchEdge('c>e', {}, 'b')],
      ['warning several_unconditional_edges /edges/3'],
    ],
    [
      'the same sentence again',
      [sketchEdge('c>e', whenDone, 'a'), sketchEdge('c>e', { condition: ' the caller is DONE. ' }, 'b')],
      ['warning duplicate_condition /edges/3'],
    ],
    [
      'the same expression again',
      [
        sketchEdge('c>e', { condition: { event: 'dtmf', digits: '1' } }, 'a'),
        sketchEdge('c>e', { condition: { digits: '1', event: 'dtmf' } }, 'b'),
      ],
      ['warning duplicate_condition /edges/3'],
    ],
    [
      'a constant',
      [sketchEdge('c>e', { condition: { '==': [1, 2] } }, 'a')],
      ['warning condition_never_true /edges/2'],
    ],
    [
      'but not events, which come at their own time',
      [sketchEdge('c>e', {}, 'a'), sketchEdge('c>e', { condition: { event: 'silence' } }, 'b')],
      [],
    ],
  ])('%s', (_name, edges, expected) => {
    expect(fromTalk(...edges)).toEqual(expected);
  });

  it('include a sentence beside an unconditional edge, whose message names fallback', () => {
    const { problems } = reviewPathway(
      sketch(nodes, [sketchEdge('s>c'), sketchEdge('c>e', whenDone, 'done'), sketchEdge('c>e', {}, 'on')]),
      known,
    );
    expect(problems).toEqual([
      {
        severity: 'warning',
        code: 'edge_behind_unconditional',
        message:
          'a sentence beside the unconditional edge "on" is never taken; set fallback on "on" to take it when nothing else holds',
        path: '/edges/1',
        edgeId: 'done',
      },
    ]);
  });

  it('exclude the result of a failed tool beside an unconditional edge', () => {
    const edges = [
      sketchEdge('s>t'),
      sketchEdge('t>e'),
      sketchEdge('t>e', { condition: { event: 'tool_result', ok: false } }, 'late'),
    ];
    expect(review([start, sketchNode('t', 'tool'), end], edges)).toEqual([]);
  });

  it('exclude a tool result at a conversation node', () => {
    const onResult = { condition: { event: 'tool_result', ok: false } };
    expect(fromTalk(sketchEdge('c>e', {}, 'a'), sketchEdge('c>e', onResult, 'b'))).toEqual([]);
  });

  it('do not make a node reachable', () => {
    const edges = [sketchEdge('s>c'), sketchEdge('c>e', { condition: { '==': [1, 2] } })];
    expect(review(nodes, edges)).toEqual([
      'warning condition_never_true /edges/1',
      'warning unreachable_node /nodes/2',
      'warning no_end_reachable /nodes',
    ]);
  });
});

describe('Cycles', () => {
  const [say, fork, tool] = [sketchNode('y', 'say'), sketchNode('f', 'condition'), sketchNode('t', 'tool')];

  it('that never wait for the caller are an error', () => {
    const edges = [
      sketchEdge('s>y'),
      sketchEdge('y>f'),
      sketchEdge('f>y', { fallback: true }),
      sketchEdge('f>e', isOpen),
    ];
    expect(review([start, say, fork, end], edges)).toEqual(['error endless_loop /nodes/1']);
  });

  it('of one say node are an error', () => {
    const found = review(
      [start, say, end],
      [sketchEdge('s>y'), sketchEdge('y>y'), sketchEdge('s>e', whenDone)],
    );
    expect(found).toContain('error endless_loop /nodes/1');
  });

  it('with a tool that can end them are a warning', () => {
    const edges = [
      sketchEdge('s>t'),
      sketchEdge('t>f'),
      sketchEdge('f>t', { fallback: true }),
      sketchEdge('f>e', isOpen),
    ];
    expect(review([start, tool, fork, end], edges)).toEqual(['warning loop_without_turn /nodes/1']);
  });

  it('with a tool but no exit are an error', () => {
    const found = review([start, tool, fork], [sketchEdge('s>t'), sketchEdge('t>f'), sketchEdge('f>t')]);
    expect(found).toEqual(['warning no_end_node /nodes', 'error endless_loop /nodes/1']);
  });

  it('that wait for DTMF digits or silence are accepted', () => {
    const edges = [
      sketchEdge('s>y'),
      sketchEdge('y>y', { condition: { event: 'dtmf', digits: '9' } }),
      sketchEdge('y>e', { condition: { event: 'silence' } }),
    ];
    expect(review([start, say, end], edges)).toContain('warning no_default_edge /nodes/1');
    expect(review([start, say, end], edges)).not.toContain('error endless_loop /nodes/1');
  });

  it('with a node that ends the call are accepted', () => {
    const hangUp = sketchNode('h', 'tool', { tools: ['end_call'] });
    expect(review([start, say, hangUp], [sketchEdge('s>y'), sketchEdge('y>h'), sketchEdge('h>y')])).toEqual(
      [],
    );
  });

  it('of conversation nodes need an exit', () => {
    const other = sketchNode('d', 'conversation');
    const circle = [sketchEdge('s>c'), sketchEdge('c>d', { condition: 'more' }), sketchEdge('d>c', whenDone)];
    expect(review([start, talk, other], circle)).toEqual([
      'warning no_end_node /nodes',
      'warning cycle_without_exit /nodes/1',
    ]);
    expect(review([start, talk, other, end], [...circle, sketchEdge('d>e', { condition: 'bye' })])).toEqual(
      [],
    );
  });
});

describe('Global edges', () => {
  const person = sketchEdge('*>x', { condition: 'The caller wants a person.' });
  const hours = sketchEdge('*>h', { condition: 'The caller asks for the opening hours.' });
  const desk = sketchNode('x', 'transfer');

  it('reach their targets and lead out of a cycle', () => {
    const other = sketchNode('d', 'conversation');
    const circle = [sketchEdge('s>c'), sketchEdge('c>d', { condition: 'more' }), sketchEdge('d>c', whenDone)];
    const failed = sketchEdge('x>c', { condition: { event: 'tool_result', ok: false } });
    expect(review([start, talk, other, desk], [...circle, person, failed])).toEqual([]);
  });

  it('may lead to a node that returns and has no edge', () => {
    const told = sketchNode('h', 'say', { returns: true });
    const edges = [sketchEdge('s>c'), sketchEdge('c>e', whenDone)];
    expect(review([start, talk, told, end], [...edges, hours])).toEqual([]);
    expect(review([start, talk, told, end], [...edges, sketchEdge('c>h', { condition: 'hours' })])).toEqual([
      'warning returns_without_global_edge /nodes/2',
    ]);
  });

  it('need a condition and cannot be fallbacks', () => {
    const edges = [sketchEdge('s>e'), sketchEdge('*>e', {}, 'a')];
    expect(review([start, end], edges)).toContain(
      'error global_edge_without_condition /edges/1/data/condition',
    );
    const fallback = sketchEdge('*>e', { condition: 'no', fallback: true });
    expect(review([start, end], [sketchEdge('s>e'), fallback])).toContain(
      'error global_fallback_edge /edges/1/data/fallback',
    );
  });
});

describe('Unknown names', () => {
  const nodes = [
    start,
    sketchNode('t', 'tool', {
      prompt: 'Look up {{ orderNumber }}',
      arguments: { of: ['{{ customer.id }}'] },
    }),
    end,
  ];
  const edges = [sketchEdge('s>t'), sketchEdge('t>e', isOpen), sketchEdge('t>e', { fallback: true }, 'else')];

  it('of variables are warnings when the known names are given', () => {
    expect(review(nodes, edges, ['customer'])).toEqual([
      'warning unknown_variable /nodes/1/data/prompt',
      'warning unknown_variable /edges/1/data/condition',
    ]);
    expect(review(nodes, edges, ['customer', 'orderNumber', 'state'])).toEqual([]);
    expect(review(nodes, edges)).toEqual([]);
  });

  it('of tools are errors', () => {
    const asking = sketchNode('c', 'conversation', { tools: ['nope'] });
    expect(review([start, asking, end], [sketchEdge('s>c'), sketchEdge('c>e', whenDone)])).toEqual([
      'error unknown_tool /nodes/1/data/tools/0',
    ]);
  });
});

describe('reviewInput', () => {
  it('reports violations of the schema', () => {
    expect(reviewInput({ nodes: [] }, known)).toEqual({
      valid: false,
      problems: [
        {
          severity: 'error',
          code: 'invalid_field',
          path: '/nodes',
          message: 'nodes must have at least one entry',
        },
        {
          severity: 'error',
          code: 'invalid_field',
          path: '/edges',
          message: 'edges is required and must be an array',
        },
      ],
    });
  });

  it('reviews a valid pathway', () => {
    expect(reviewInput({ nodes: [start], edges: [] }, known).problems.map(({ code }) => code)).toEqual([
      'no_end_node',
      'dead_end',
    ]);
  });

  it('never throws, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        for (const input of [a, { nodes: a, edges: b }, { nodes: [start, a], edges: [b] }]) {
          expect(typeof reviewInput(input, known).valid).toBe('boolean');
        }
        const condition = { condition: a };
        const tool = sketchNode('t', 'tool', { arguments: { a, b } });
        reviewInput(
          { nodes: [start, tool], edges: [sketchEdge('s>t', condition)] },
          { ...known, variables: new Set() },
        );
      }),
    );
  });
});

it('A review of 500 random nodes and 2000 random edges is fast', () => {
  const id = fc.integer({ min: 0, max: 499 });
  const condition = fc.constantFrom(
    null,
    'The caller agrees.',
    { event: 'silence' },
    { '<': [{ var: 'n' }, 3] },
    { '==': [1, 2] },
  );
  const edges = fc.array(fc.tuple(id, id, condition, fc.boolean()), { minLength: 2_000, maxLength: 2_000 });
  const types = fc.array(fc.constantFrom(...NODE_TYPES), { minLength: 500, maxLength: 500 });
  fc.assert(
    fc.property(types, edges, (kinds, ways) => {
      const pathway = sketch(
        kinds.map((type, index) =>
          sketchNode(String(index), type, { prompt: 'Ask {{ name }} for {{ n }}.' }),
        ),
        ways.map(([from, to, when, fallback], index) =>
          sketchEdge(`${from}>${to}`, { condition: when, fallback }, `edge ${index}`),
        ),
      );
      const startedAt = performance.now();
      reviewPathway(pathway, { ...known, variables: new Set(['name']) });
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    }),
    { numRuns: 10 },
  );
});
