import { describe, expect, it } from 'vitest';
import { canFinish, createGraph, waitsForCaller } from '../../../src/agents/pathway/graph.ts';
import { NODE_TYPES } from '../../../src/agents/pathway/schema/nodeSchema.ts';
import { nodeOf, sketch, sketchEdge, sketchNode } from './support/sketch.ts';

const start = sketchNode('s', 'start');

describe('createGraph', () => {
  it('sorts edges by priority, equal ones in graph order, fallbacks last', () => {
    const pathway = sketch(
      [start, sketchNode('e', 'end')],
      [
        sketchEdge('s>e', { fallback: true, priority: 9 }, 'fallback'),
        sketchEdge('s>e', {}, 'first'),
        sketchEdge('s>e', { priority: -1 }, 'low'),
        sketchEdge('s>e', {}, 'second'),
        sketchEdge('s>e', { priority: 2 }, 'high'),
      ],
    );
    const ids = createGraph(pathway)
      .outgoing('s')
      .map((edge) => edge.id);
    expect(ids).toEqual(['high', 'first', 'second', 'low', 'fallback']);
  });

  it('ignores edges without a target node and repeated node ids', () => {
    const graph = createGraph(
      sketch([start, sketchNode('s', 'say')], [sketchEdge('s>x'), sketchEdge('x>s')]),
    );
    expect(graph.outgoing('s')).toEqual([]);
    expect(graph.outgoing('x')).toEqual([]);
    expect(graph.nodes).toEqual([graph.start]);
    expect(graph.node('s')?.type).toBe('start');
    expect(graph.node('x')).toBeUndefined();
  });
});

it('Node types determine which nodes wait for the caller and which can end the conversation', () => {
  const pathway = sketch(NODE_TYPES.map((type) => sketchNode(type, type)));
  expect(pathway.nodes.filter(waitsForCaller).map(({ id }) => id)).toEqual(['start', 'conversation']);
  expect(pathway.nodes.filter(canFinish).map(({ id }) => id)).toEqual(['end', 'transfer']);
});

it.each(['end_call', 'transfer_call'])('A node with the tool %s can end the conversation', (tool) => {
  const pathway = sketch([sketchNode('c', 'conversation', { tools: [tool] })]);
  expect(canFinish(nodeOf(pathway, 'c'))).toBe(true);
});
