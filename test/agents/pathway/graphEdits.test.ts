import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addEdge,
  addNode,
  patchEdge,
  patchNode,
  removeEdge,
  removeNode,
  withEdgeId,
  withNodeId,
} from '../../../src/agents/pathway/graphEdits.ts';
import { edgeInputSchema, edgePatchSchema } from '../../../src/agents/pathway/schema/edgeSchema.ts';
import {
  nodeInputSchema,
  nodePatchSchema,
  nodeSchema,
} from '../../../src/agents/pathway/schema/nodeSchema.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import { edgeOf, nodeOf, sketch, sketchEdge, sketchNode } from './support/sketch.ts';

const known = { toolIds: new Set(['lookup']) };
const pathway = sketch(
  [
    sketchNode('s', 'start'),
    sketchNode('c', 'conversation', { expectedAnswers: ['yes'] }),
    sketchNode('k', 'knowledge', { query: '{{ topic }}', topK: 3 }),
    sketchNode('t', 'tool'),
    sketchNode('e', 'end'),
  ],
  [
    sketchEdge('s>c'),
    sketchEdge('c>k', { condition: 'asks', priority: 2 }),
    sketchEdge('c>e', { condition: 'done' }),
  ],
);
const untouched = structuredClone(pathway);

/** The error of a refused edit: its code, then each detail's path. */
function refusal(edit: () => unknown): string[] {
  try {
    edit();
  } catch (error) {
    if (!(error instanceof CallwayError)) throw error;
    expect(pathway).toEqual(untouched);
    return [error.code, ...(error.details ?? []).map(({ path }) => path)];
  }
  throw new Error('the edit was taken');
}

const node = (value: object) => withNodeId(nodeInputSchema.parse(value), () => 'made');
const edge = (value: object) => withEdgeId(edgeInputSchema.parse(value), () => 'made');

describe('addNode', () => {
  it('appends the node; the service generates only a missing id', () => {
    const added = addNode(pathway, node({ type: 'say', data: { title: 'T' } }), known);
    expect(added.nodes.map(({ id }) => id)).toEqual(['s', 'c', 'k', 't', 'e', 'made']);
    expect(node(sketchNode('mine', 'say')).id).toBe('mine');
    expect(pathway).toEqual(untouched);
  });

  it.each<[string, object, string[]]>([
    ['an id that is taken', sketchNode('c', 'say'), ['duplicate_id', '/id']],
    ['a second start', sketchNode('n', 'start'), ['several_start_nodes', '/type']],
    [
      'an unknown tool',
      sketchNode('n', 'conversation', { tools: ['nope'] }),
      ['unknown_tool', '/data/tools/0'],
    ],
    ['a broken template', sketchNode('n', 'say', { prompt: '{{' }), ['template_error', '/data/prompt']],
  ])('refuses %s', (_name, value, expected) => {
    expect(refusal(() => addNode(pathway, node(value), known))).toEqual(expected);
  });

  it('refuses a 501st node', () => {
    const full = sketch(Array.from({ length: 500 }, (_, index) => sketchNode(String(index), 'say')));
    expect(refusal(() => addNode(full, node(sketchNode('n', 'say')), known))).toEqual(['too_many_nodes', '']);
  });
});

describe('patchNode', () => {
  const patched = (id: string, patch: object) =>
    nodeOf(patchNode(pathway, id, nodePatchSchema.parse(patch), known), id);

  it.each<[string, string, object, object]>([
    ['a key inside data', 'c', { data: { title: 'New' } }, { title: 'New' }],
    [
      'keys named with a dot',
      'c',
      { 'data.title': 'New', 'data.tools': ['lookup'] },
      { title: 'New', tools: ['lookup'] },
    ],
    ['both ways at once', 'c', { data: { prompt: 'P' }, 'data.title': 'New' }, { prompt: 'P', title: 'New' }],
    ['a key of the type', 'k', { data: { topK: 9, scoreThreshold: 0.5 } }, { topK: 9, scoreThreshold: 0.5 }],
  ])('changes %s', (_name, id, patch, change) => {
    const before = nodeOf(pathway, id);
    expect(patched(id, patch)).toEqual({ ...before, data: { ...before.data, ...change } });
    expect(pathway).toEqual(untouched);
  });

  it('keeps null of an engine, which forbids the agent’s', () => {
    expect(patched('k', { data: { engine: null } }).data).toMatchObject({ engine: null });
  });

  it('removes optional fields with null', () => {
    expect(patched('k', { data: { query: null, topK: null } }).data).toEqual({
      title: 'k',
      prompt: 'words',
      tools: [],
    });
    expect(patched('c', { data: { expectedAnswers: null, query: null } }).data).toEqual({
      title: 'c',
      prompt: 'words',
      tools: [],
    });
  });

  it.each<[string, string, object, string[]]>([
    ['an unknown node', 'x', {}, ['node_not_found']],
    ['a key of another type', 'c', { data: { to: '1234' } }, ['invalid_node', '/data/to']],
    ['a tool node without its tool', 't', { data: { tools: [] } }, ['invalid_node', '/data/tools']],
    ['the same by its dotted name', 't', { 'data.tools': [] }, ['invalid_node', '/data.tools']],
    ['an unknown tool', 'c', { data: { tools: ['lookup', 'nope'] } }, ['unknown_tool', '/data/tools/1']],
    [
      'an unknown tool by the dotted name',
      'c',
      { 'data.tools': ['nope'] },
      ['unknown_tool', '/data.tools/0'],
    ],
    ['a broken template', 'k', { data: { query: '{{' } }, ['template_error', '/data/query']],
  ])('refuses %s', (_name, id, patch, expected) => {
    expect(refusal(() => patchNode(pathway, id, nodePatchSchema.parse(patch), known))).toEqual(expected);
  });

  it('allows changes to a node whose tool has been deleted', () => {
    const patch = nodePatchSchema.parse({ data: { title: 'New' } });
    expect(nodeOf(patchNode(pathway, 't', patch, { toolIds: new Set() }), 't').data.title).toBe('New');
  });

  it('changes only the fields that the patch names', () => {
    const text = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
    const data = fc.record(
      { title: text, prompt: fc.constantFrom('', 'p', '{{ a }}'), tools: fc.constantFrom([], ['lookup']) },
      { requiredKeys: [] },
    );
    const patches = fc.record(
      {
        data,
        'data.prompt': fc.constantFrom('q', ''),
        position: fc.record({ x: fc.integer(), y: fc.integer() }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.constantFrom('s', 'c', 'k', 'e'), patches, (id, value) => {
        const parsed = nodePatchSchema.safeParse(value);
        if (!parsed.success) return;
        const after = patchNode(pathway, id, parsed.data, known);
        const expected = structuredClone(untouched);
        const target = nodeOf(expected, id);
        const dotted = value['data.prompt'] === undefined ? {} : { prompt: value['data.prompt'] };
        Object.assign(target.data, dotted, value.data);
        Object.assign(target, value.position && { position: value.position });
        expect(after).toEqual(expected);
        expect(nodeSchema.safeParse(nodeOf(after, id)).success).toBe(true);
      }),
    );
  });
});

describe('removeNode', () => {
  it('removes the edges of the node', () => {
    const after = removeNode(pathway, 'c');
    expect(after.nodes.map(({ id }) => id)).toEqual(['s', 'k', 't', 'e']);
    expect(after.edges).toEqual([]);
    expect(removeNode(pathway, 'k').edges.map(({ id }) => id)).toEqual(['s>c', 'c>e']);
    expect(pathway).toEqual(untouched);
  });

  it('refuses the start node and unknown ids', () => {
    expect(refusal(() => removeNode(pathway, 's'))).toEqual(['start_node_required']);
    expect(refusal(() => removeNode(pathway, 'x'))).toEqual(['node_not_found']);
  });
});

describe('Edges', () => {
  it('are appended; the service generates only a missing id', () => {
    const after = addEdge(pathway, edge({ source: 'k', target: 'c' }), known);
    expect(after.edges.map(({ id }) => id)).toEqual(['s>c', 'c>k', 'c>e', 'made']);
    expect(pathway).toEqual(untouched);
  });

  it.each<[string, object, string[]]>([
    ['an id that is taken', sketchEdge('c>k'), ['duplicate_id', '/id']],
    ['an end that is not there', sketchEdge('c>x'), ['unknown_node', '/target']],
  ])('are refused for %s', (_name, value, expected) => {
    expect(refusal(() => addEdge(pathway, edge(value), known))).toEqual(expected);
  });

  it('are limited to 2000', () => {
    const many = Array.from({ length: 2_000 }, (_, index) => sketchEdge('s>e', {}, String(index)));
    const full = sketch([sketchNode('s', 'start'), sketchNode('e', 'end')], many);
    expect(refusal(() => addEdge(full, edge(sketchEdge('s>e')), known))).toEqual(['too_many_edges', '']);
  });

  const patched = (patch: object) =>
    edgeOf(patchEdge(pathway, 'c>k', edgePatchSchema.parse(patch), known), 'c>k');

  it.each<[object, object]>([
    [{}, {}],
    [{ target: 'e' }, { target: 'e' }],
    [{ data: { label: 'L' } }, { data: { label: 'L', condition: 'asks', priority: 2, fallback: false } }],
    [{ data: { condition: null } }, { data: { label: '', condition: null, priority: 2, fallback: false } }],
    [
      { data: { priority: null, fallback: true } },
      { data: { label: '', condition: 'asks', priority: 0, fallback: true } },
    ],
  ])('change with the patch %j', (patch, change) => {
    expect(patched(patch)).toEqual({ ...edgeOf(pathway, 'c>k'), ...change });
    expect(pathway).toEqual(untouched);
  });

  it('refuse a patch with an unknown target', () => {
    const patch = (value: object) => () => patchEdge(pathway, 'c>k', edgePatchSchema.parse(value), known);
    expect(refusal(patch({ source: 'x', target: 's' }))).toEqual(['unknown_node', '/source', '/target']);
    expect(refusal(() => patchEdge(pathway, 'x', {}, known))).toEqual(['edge_not_found']);
  });

  it('are removed by id', () => {
    expect(removeEdge(pathway, 'c>k').edges.map(({ id }) => id)).toEqual(['s>c', 'c>e']);
    expect(refusal(() => removeEdge(pathway, 'x'))).toEqual(['edge_not_found']);
  });
});
