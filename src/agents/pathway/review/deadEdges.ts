import { evaluateExpression } from '../evaluateExpression.ts';
import { checkExpression, isConstantExpression, iterates } from '../expressions.ts';
import type { PathwayGraph } from '../graph.ts';
import { type Condition, isEventCondition, isExpression, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { ProblemCode } from './problem.ts';

/** An edge that can never be taken, and the reason. */
export interface DeadEdge {
  readonly edge: PathwayEdge;
  readonly code: Extract<
    ProblemCode,
    | 'edge_behind_unconditional'
    | 'duplicate_condition'
    | 'condition_never_true'
    | 'several_unconditional_edges'
    | 'event_never_raised'
    | 'silence_behind_shorter'
  >;
  readonly message: string;
}

/** Finds the edges that no conversation can take. */
export function findDeadEdges(graph: PathwayGraph): DeadEdge[] {
  return [graph.globalEdges, ...graph.nodes.map(({ id }) => graph.outgoing(id))].flatMap(deadEdgesOf);
}

/** True when an edge with this condition is taken whenever it is evaluated. */
export function isAlwaysTaken(condition: Condition): boolean {
  return condition === null || constantValue(condition) === true;
}

/** @param edges - The edges of one node, in the order of the graph by priority. */
function deadEdgesOf(edges: readonly PathwayEdge[]): DeadEdge[] {
  const dead: DeadEdge[] = [];
  const firstWith = new Map<string, PathwayEdge>();
  let always: PathwayEdge | undefined;
  for (const edge of edges.toSorted(byRank)) {
    const { condition } = edge.data;
    const key = conditionKey(condition);
    const twin = key === undefined ? undefined : firstWith.get(key);
    if (constantValue(condition) === false) {
      dead.push({ edge, code: 'condition_never_true', message: 'this condition is never true' });
    } else if (always && !isEventCondition(condition)) {
      dead.push(shadowed(edge, always));
    } else if (twin) {
      const message = `edge ${JSON.stringify(twin.id)} has the same condition and is evaluated first`;
      dead.push({ edge, code: 'duplicate_condition', message });
    }
    if (key !== undefined && !twin) firstWith.set(key, edge);
    if (!always && isAlwaysTaken(condition)) always = edge;
  }
  return edges.flatMap((edge) => dead.filter((one) => one.edge === edge));
}

/** The order of evaluation: fallbacks last; before them events, then unconditional edges, expressions and sentences. */
function byRank(one: PathwayEdge, other: PathwayEdge): number {
  return Number(one.data.fallback) - Number(other.data.fallback) || rankOf(one) - rankOf(other);
}

function rankOf({ data: { condition } }: PathwayEdge): number {
  if (isEventCondition(condition)) return 0;
  if (condition === null) return 1;
  return isExpression(condition) ? 2 : 3;
}

function shadowed(edge: PathwayEdge, always: PathwayEdge): DeadEdge {
  const other = JSON.stringify(always.id);
  const areTwins = edge.data.condition === null && edge.data.fallback === always.data.fallback;
  if (areTwins && always.data.condition === null) {
    const message = `edge ${other} is also unconditional and is evaluated first; give one of them a condition`;
    return { edge, code: 'several_unconditional_edges', message };
  }
  const kind = typeof edge.data.condition === 'string' ? 'a sentence' : 'this edge';
  const message =
    always.data.condition === null
      ? `${kind} beside the unconditional edge ${other} is never taken; set fallback on ${other} to take it when nothing else holds`
      : `edge ${other} is always taken first; give it a condition that may be false`;
  return { edge, code: 'edge_behind_unconditional', message };
}

/** The value of an expression without variables; undefined for every other condition. */
function constantValue(condition: Condition): boolean | undefined {
  if (!isExpression(condition) || !isConstantExpression(condition) || iterates(condition)) return undefined;
  return checkExpression(condition).length > 0 ? undefined : evaluateExpression(condition, {});
}

function conditionKey(condition: Condition): string | undefined {
  if (condition === null) return undefined;
  return typeof condition === 'string' ? condition.trim().toLowerCase() : canonicalJson(condition);
}

/** JSON with sorted keys. Recursive: the schema limits the depth. */
function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join()}}`;
}
