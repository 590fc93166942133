import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reviewInput, reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { NODE_TYPES } from '../../../../src/agents/pathway/schema/nodeSchema.ts';
import { threadTime } from '../../../support/mainThreadTime.ts';
import { conversation, end, isOpen, known, review, start, whenDone } from '../support/review.ts';
import { sketch, sketchEdge, sketchNode } from '../support/sketch.ts';

describe('reviewPathway', () => {
  it('finds no problem in a valid pathway', () => {
    const nodes = [
      start,
      conversation,
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
    expect(review([end, conversation], [sketchEdge('c>x')])).toEqual([
      'error no_start_node /nodes',
      'error unknown_node /edges/0/target',
    ]);
  });

  it('reports an unreachable node', () => {
    const nodes = [start, end, conversation];
    expect(review(nodes, [sketchEdge('s>e'), sketchEdge('c>e', whenDone)])).toEqual([
      'warning unreachable_node /nodes/2',
    ]);
  });

  it('reports a pathway without an end', () => {
    expect(review([start, conversation], [sketchEdge('s>c')])).toEqual(['warning no_end_node /nodes']);
    expect(review([start, conversation, end], [sketchEdge('s>c')])).toEqual([
      'warning unreachable_node /nodes/2',
      'warning no_end_reachable /nodes',
    ]);
    const farewell = sketchNode('c', 'conversation', { tools: ['end_call'] });
    expect(review([start, farewell], [sketchEdge('s>c')])).toEqual([]);
  });

  it.each(['say', 'condition', 'knowledge', 'tool', 'start'] as const)(
    'reports a %s node without outgoing edges',
    (type) => {
      const nodes = [sketchNode('a', type), ...(type === 'start' ? [] : [start]), conversation, end];
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
    expect(review([start, conversation, hangUp], [sketchEdge('s>c'), sketchEdge('c>t', whenDone)])).toEqual(
      [],
    );
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
  const threadMs = threadTime();
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
      const startedMs = threadMs();
      reviewPathway(pathway, { ...known, variables: new Set(['name']) });
      expect(threadMs() - startedMs).toBeLessThan(2_000);
    }),
    { numRuns: 10 },
  );
});
