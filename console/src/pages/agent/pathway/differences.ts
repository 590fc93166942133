import type { Graph, Part } from './graph.ts';

export type ChangeKind = 'added' | 'removed' | 'changed';

/** How a node or an edge differs between two graphs. */
export interface Change {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly before: Part | undefined;
  readonly after: Part | undefined;
  /** Of a changed part. */
  readonly fields: readonly FieldChange[];
}

export interface FieldChange {
  /** Dotted: `data.prompt`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A part that two editors have changed differently. */
export interface Conflict {
  readonly id: string;
  readonly base: Part | undefined;
  readonly mine: Part | undefined;
  readonly theirs: Part | undefined;
}

export type Side = 'mine' | 'theirs';

/** What has changed, nodes before edges. */
export function differences(before: Graph, after: Graph): Change[] {
  return [...differencesOf(before.nodes, after.nodes), ...differencesOf(before.edges, after.edges)];
}

/** The leaves that differ; lists count as a whole. */
export function fieldChanges(before: unknown, after: unknown, path = ''): FieldChange[] {
  if (isSame(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    fieldChanges(before[name], after[name], path === '' ? name : `${path}.${name}`),
  );
}

/** Parts that both have changed since `base`, and not to the same. */
export function conflictsOf(base: Graph, mine: Graph, theirs: Graph): Conflict[] {
  const [ofBase, ofMine, ofTheirs] = [base, mine, theirs].map(partsById);
  const ids = new Set([base, mine, theirs].flatMap((graph) => [...partsById(graph).keys()]));
  return [...ids].flatMap((id) => {
    const [before, my, their] = [ofBase?.get(id), ofMine?.get(id), ofTheirs?.get(id)];
    const isConflict = !isSame(my, before) && !isSame(their, before) && !isSame(my, their);
    return isConflict ? [{ id, base: before, mine: my, theirs: their }] : [];
  });
}

/** Their graph with my changes; of conflicts the side that was chosen. */
export function merged(base: Graph, mine: Graph, theirs: Graph, choices: ReadonlyMap<string, Side>): Graph {
  const merge = <One extends Part>(
    before: readonly One[],
    my: readonly One[],
    their: readonly One[],
  ): One[] => {
    const [ofBase, ofMine, ofTheirs] = [byId(before), byId(my), byId(their)];
    const ids = new Set([...ofTheirs.keys(), ...ofMine.keys()]);
    return [...ids].flatMap((id) => {
      const [old, own, other] = [ofBase.get(id), ofMine.get(id), ofTheirs.get(id)];
      const isMine = isSame(other, old) || (!isSame(own, old) && choices.get(id) === 'mine');
      const kept = isMine ? own : other;
      return kept ? [kept] : [];
    });
  };
  return {
    nodes: merge(base.nodes, mine.nodes, theirs.nodes),
    edges: merge(base.edges, mine.edges, theirs.edges),
  };
}

/** Equality of JSON values; the order of properties does not count. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((entry, index) => isSame(entry, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => name in right && isSame(left[name], right[name]))
  );
}

function differencesOf(before: readonly Part[], after: readonly Part[]): Change[] {
  const [old, current] = [byId(before), byId(after)];
  const ids = new Set([...old.keys(), ...current.keys()]);
  return [...ids].flatMap((id): Change[] => {
    const [from, to] = [old.get(id), current.get(id)];
    if (isSame(from, to)) return [];
    const kind = from ? (to ? 'changed' : 'removed') : 'added';
    return [{ id, kind, before: from, after: to, fields: kind === 'changed' ? fieldChanges(from, to) : [] }];
  });
}

function byId<One extends Part>(parts: readonly One[]): ReadonlyMap<string, One> {
  return new Map(parts.map((part) => [part.id, part]));
}

function partsById({ nodes, edges }: Graph): ReadonlyMap<string, Part> {
  return byId<Part>([...nodes, ...edges]);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
