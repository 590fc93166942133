import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stronglyConnected } from '../../../../src/agents/pathway/review/stronglyConnected.ts';

type Graph = Readonly<Record<string, string>>;

function components(graph: Graph): string[] {
  return stronglyConnected(Object.keys(graph), (id) => graph[id] ?? '')
    .map((component) => component.toSorted().join(''))
    .toSorted();
}

it.each<[string, Graph, string[]]>([
  ['nothing', {}, []],
  ['a chain', { a: 'b', b: 'c', c: '' }, ['a', 'b', 'c']],
  ['a loop on itself', { a: 'a' }, ['a']],
  ['one cycle', { a: 'b', b: 'c', c: 'a' }, ['abc']],
  ['two cycles and a bridge', { a: 'b', b: 'ac', c: 'd', d: 'c' }, ['ab', 'cd']],
  ['a cycle reached later', { x: 'a', a: 'b', b: 'a' }, ['ab', 'x']],
  ['a cross edge to a finished component', { a: 'bc', b: 'd', c: 'd', d: '' }, ['a', 'b', 'c', 'd']],
  ['cycles that share a node', { a: 'bc', b: 'a', c: 'a' }, ['abc']],
])('stronglyConnected finds the components of %s', (_name, graph, expected) => {
  expect(components(graph)).toEqual(expected);
});

it('stronglyConnected agrees with mutual reachability on any graph', () => {
  const letters = [...'abcdefg'];
  const graphs = fc.record(Object.fromEntries(letters.map((id) => [id, fc.subarray(letters)])));
  fc.assert(
    fc.property(graphs, (graph) => {
      const reach = (from: string) => {
        const reached = new Set([from]);
        for (const id of reached) for (const next of graph[id] ?? []) reached.add(next);
        return reached;
      };
      const expected = new Set(
        letters.map((id) => letters.filter((other) => reach(id).has(other) && reach(other).has(id)).join('')),
      );
      const found = stronglyConnected(letters, (id) => graph[id] ?? []).map((ids) => ids.toSorted().join(''));
      expect(found.toSorted()).toEqual([...expected].toSorted());
    }),
  );
});

it('stronglyConnected does not exhaust the stack on a long cycle', () => {
  const size = 100_000;
  const ids = Array.from({ length: size }, (_, index) => String(index));
  const found = stronglyConnected(ids, (id) => [String((Number(id) + 1) % size)]);
  expect(found).toHaveLength(1);
  expect(found[0]).toHaveLength(size);
});
