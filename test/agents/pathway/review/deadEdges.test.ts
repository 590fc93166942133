import { describe, expect, it } from 'vitest';
import { reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { conversation, end, isOpen, known, review, start, whenDone } from '../support/review.ts';
import { sketch, sketchEdge, sketchNode } from '../support/sketch.ts';

describe('Dead edges', () => {
  const nodes = [start, conversation, end];
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
    expect(review([start, conversation, other], circle)).toEqual([
      'warning no_end_node /nodes',
      'warning cycle_without_exit /nodes/1',
    ]);
    expect(
      review([start, conversation, other, end], [...circle, sketchEdge('d>e', { condition: 'bye' })]),
    ).toEqual([]);
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
    expect(review([start, conversation, other, desk], [...circle, person, failed])).toEqual([]);
  });

  it('may lead to a node that returns and has no edge', () => {
    const told = sketchNode('h', 'say', { returns: true });
    const edges = [sketchEdge('s>c'), sketchEdge('c>e', whenDone)];
    expect(review([start, conversation, told, end], [...edges, hours])).toEqual([]);
    expect(
      review([start, conversation, told, end], [...edges, sketchEdge('c>h', { condition: 'hours' })]),
    ).toEqual(['warning returns_without_global_edge /nodes/2']);
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
