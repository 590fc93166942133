import { describe, expect, it } from 'vitest';
import type { Pathway } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import {
  BUILT_IN_TOOLS,
  checkStructure,
  requireValidStructure,
} from '../../../src/agents/pathway/structure.ts';
import { sketch, sketchEdge, sketchNode } from './support/sketch.ts';

const known = { toolIds: new Set(['lookup']) };
const start = sketchNode('s', 'start');
const end = sketchNode('e', 'end');

describe('checkStructure', () => {
  it('accepts a valid graph', () => {
    const tools = sketchNode('c', 'conversation', { tools: ['lookup', ...BUILT_IN_TOOLS] });
    const pathway = sketch(
      [start, tools, sketchNode('t', 'tool'), end],
      [
        sketchEdge('s>c'),
        sketchEdge('c>t', { condition: { '==': [{ var: 'a' }, 1] } }),
        sketchEdge('t>e', { condition: { event: 'tool_result', tool: 'lookup' } }),
        sketchEdge('c>c', { condition: { event: 'silence' } }),
      ],
    );
    expect(checkStructure(pathway, known)).toEqual([]);
  });

  it.each<[string, Pathway, string, string]>([
    ['no start', sketch([end]), 'no_start_node', '/nodes'],
    ['a second start', sketch([start, sketchNode('s2', 'start')]), 'several_start_nodes', '/nodes/1/type'],
    ['two nodes of one id', sketch([start, end, sketchNode('e', 'say')]), 'duplicate_id', '/nodes/2/id'],
    [
      'two edges of one id',
      sketch([start, end], [sketchEdge('s>e', {}, 'x'), sketchEdge('s>e', {}, 'x')]),
      'duplicate_id',
      '/edges/1/id',
    ],
    ['an edge from nowhere', sketch([start, end], [sketchEdge('x>e')]), 'unknown_node', '/edges/0/source'],
    ['an edge to nowhere', sketch([start], [sketchEdge('s>x')]), 'unknown_node', '/edges/0/target'],
    [
      'an edge out of an end',
      sketch([start, end, sketchNode('c', 'conversation')], [sketchEdge('e>c')]),
      'edge_out_of_end',
      '/edges/0/source',
    ],
    [
      'an edge into the start',
      sketch([start, sketchNode('c', 'conversation')], [sketchEdge('c>s')]),
      'edge_into_start',
      '/edges/0/target',
    ],
    [
      'an unknown tool',
      sketch([start, sketchNode('c', 'conversation', { tools: ['lookup', 'nope'] })]),
      'unknown_tool',
      '/nodes/1/data/tools/1',
    ],
    [
      'an unknown tool in a condition',
      sketch([start, end], [sketchEdge('s>e', { condition: { event: 'tool_result', tool: 'nope' } })]),
      'unknown_tool',
      '/edges/0/data/condition/tool',
    ],
    [
      'a tool listed twice',
      sketch([start, sketchNode('c', 'conversation', { tools: ['lookup', 'lookup'] })]),
      'duplicate_tool',
      '/nodes/1/data/tools/1',
    ],
    ...(['say', 'condition'] as const).map((type): [string, ReturnType<typeof sketch>, string, string] => [
      `tools at a ${type} node`,
      sketch([start, sketchNode('c', type, { tools: ['end_call'] })]),
      'unusable_tools',
      '/nodes/1/data/tools',
    ]),
    [
      'a broken prompt',
      sketch([start, sketchNode('c', 'say', { prompt: '{{ a' })]),
      'template_error',
      '/nodes/1/data/prompt',
    ],
    [
      'a broken argument',
      sketch([start, sketchNode('t', 'tool', { arguments: { 'a/b': [1, '{% if %}'] } })]),
      'template_error',
      '/nodes/1/data/arguments/a~1b/1',
    ],
    [
      'a broken query',
      sketch([start, sketchNode('k', 'knowledge', { query: '{{ a | nope }}' })]),
      'template_error',
      '/nodes/1/data/query',
    ],
    [
      'a broken transfer target',
      sketch([start, sketchNode('t', 'transfer', { to: 'sip:{{ a@x' })]),
      'template_error',
      '/nodes/1/data/to',
    ],
    [
      'a broken expression',
      sketch([start, end], [sketchEdge('s>e', { condition: { '==': [1, { log: 1 }] } })]),
      'expression_error',
      '/edges/0/data/condition/==/1/log',
    ],
  ])('reports the path of %s', (_name, pathway, code, path) => {
    const errors = checkStructure(pathway, known);
    expect(errors.map((error) => [error.code, error.path])).toEqual([[code, path]]);
  });

  it('reports all errors at once', () => {
    const pathway = sketch([end, end], [sketchEdge('x>y')]);
    expect(checkStructure(pathway, known).map(({ code }) => code)).toEqual([
      'no_start_node',
      'duplicate_id',
      'unknown_node',
      'unknown_node',
    ]);
  });
});

describe('requireValidStructure', () => {
  it('throws the first error with all of them as details', () => {
    const errors = checkStructure(sketch([end], [sketchEdge('e>x')]), known);
    expect(() => requireValidStructure(errors)).toThrow(
      expect.objectContaining({
        category: 'invalid',
        code: 'no_start_node',
        message: 'a pathway needs one node of type start',
        details: errors.map(({ path, message }) => ({ path, message })),
      }),
    );
    expect(errors).toHaveLength(3);
  });

  it('accepts a valid graph', () => {
    expect(requireValidStructure([])).toBeUndefined();
  });
});
