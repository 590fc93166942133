import { isDeepStrictEqual } from 'node:util';

import { diffWordsWithSpace } from 'diff';

import { jsonPointer } from '../../base/validation.ts';
import type { PathwayEdge } from '../pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../pathway/schema/nodeSchema.ts';
import type { Pathway } from '../pathway/schema/pathwaySchema.ts';

/** How long the words of all texts may take: they are compared on the event loop. What is not reached has no words. */
const WORDS_BUDGET_MS = 200;

/** A stretch of words. The `same` and the `added` ones make the new text, the `same` and the `removed` ones the old. */
interface WordChange {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

interface FieldChange {
  /** JSON pointer. */
  readonly path: string;
  /** Undefined where the field did not exist. */
  readonly from?: unknown;
  /** Undefined where the field does not exist any more. */
  readonly to?: unknown;
  /** The two texts by words; undefined where they could not be compared in time. */
  readonly words?: WordChange[] | undefined;
}

/** What is compared of a release. */
interface Compared {
  readonly agent: object;
  readonly pathway: Pathway;
}

interface Changes<Part, Changed = ChangedPart> {
  readonly added: Part[];
  readonly removed: Part[];
  readonly changed: Changed[];
}

interface ChangedPart {
  readonly id: string;
  readonly fields: FieldChange[];
}

/** The schemas of responses take a type with any further fields, which no interface is. */
type Titled = { readonly title: string };

export interface ReleaseDiff {
  readonly agent: FieldChange[];
  readonly nodes: Changes<PathwayNode & Titled, ChangedPart & Titled>;
  readonly edges: Changes<PathwayEdge>;
}

/** Compares two releases as a person reads them: where a node stands on the canvas is no difference. */
export function diffReleases(from: Compared, to: Compared, nowMs: () => number): ReleaseDiff {
  const deadlineMs = nowMs() + WORDS_BUDGET_MS;
  const fields = (before: unknown, after: unknown) =>
    fieldChanges(before, after).map((change) => ({
      ...change,
      words: wordChanges(change, deadlineMs - nowMs()),
    }));
  const changesOf = <Part extends { readonly id: string }>(
    before: readonly Part[],
    after: readonly Part[],
  ) => {
    const old = new Map(before.map((part) => [part.id, part]));
    const ids = new Set(after.map(({ id }) => id));
    return {
      added: after.filter(({ id }) => !old.has(id)),
      removed: before.filter(({ id }) => !ids.has(id)),
      changed: after.flatMap((part) => {
        const known = old.get(part.id);
        const changed = known ? fields(withoutPlace(known), withoutPlace(part)) : [];
        return changed.length === 0 ? [] : [{ ...part, fields: changed }];
      }),
    };
  };
  const titled = ({ nodes }: Pathway) => nodes.map((node) => ({ ...node, title: node.data.title }));
  const nodes = changesOf(titled(from.pathway), titled(to.pathway));
  const edges = changesOf(from.pathway.edges, to.pathway.edges);
  return {
    agent: fields(from.agent, to.agent),
    nodes: { ...nodes, changed: nodes.changed.map(({ id, title, fields }) => ({ id, title, fields })) },
    edges: { ...edges, changed: edges.changed.map(({ id, fields }) => ({ id, fields })) },
  };
}

function withoutPlace(part: object): object {
  const { position: _position, title: _title, ...rest } = part as { position?: unknown; title?: unknown };
  return rest;
}

/** The fields that differ, the deepest ones. */
function fieldChanges(from: unknown, to: unknown, path: readonly string[] = []): FieldChange[] {
  if (isDeepStrictEqual(from, to)) return [];
  const [old, current] = [partsOf(from), partsOf(to)];
  if (!old || !current || !isComparable(old, current)) return [{ path: jsonPointer(path), from, to }];
  const keys = new Set([...Object.keys(old), ...Object.keys(current)]);
  return [...keys].flatMap((key) => fieldChanges(old[key], current[key], [...path, key]));
}

type Parts = Readonly<Record<string, unknown>>;

/** The parts of an object or a list. */
function partsOf(value: unknown): Parts | undefined {
  return typeof value === 'object' && value !== null ? (value as Parts) : undefined;
}

/** Lists of different lengths are compared as a whole, and so are values of different kinds. */
function isComparable(from: Parts, to: Parts): boolean {
  if (!Array.isArray(from) || !Array.isArray(to)) return Array.isArray(from) === Array.isArray(to);
  return from.length === to.length;
}

function wordChanges({ from, to }: FieldChange, timeout: number): WordChange[] | undefined {
  if (typeof from !== 'string' || typeof to !== 'string' || timeout <= 0) return undefined;
  return diffWordsWithSpace(from, to, { timeout })?.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}
