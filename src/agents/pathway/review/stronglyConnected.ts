/** The state of the search in one node. */
interface Visit {
  readonly id: string;
  readonly successors: Iterator<string>;
}

/**
 * Finds the strongly connected components of a directed graph: the maximal sets whose members can all reach each other.
 * A node in no cycle is a component of its own. Iterative, so that no graph can exhaust the stack.
 *
 * @param successors - Returns ids, which must be among `ids`.
 * @see Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972)
 */
export function stronglyConnected(
  ids: Iterable<string>,
  successors: (id: string) => Iterable<string>,
): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const components: string[][] = [];
  const visits: Visit[] = [];

  for (const root of ids) {
    if (!order.has(root)) enter(root);
    for (let visit = visits.at(-1); visit; visit = visits.at(-1)) step(visit);
  }
  return components;

  function enter(id: string): void {
    order.set(id, order.size);
    lowest.set(id, order.size - 1);
    open.push(id);
    isOpen.add(id);
    visits.push({ id, successors: successors(id)[Symbol.iterator]() });
  }

  function step(visit: Visit): void {
    const next = visit.successors.next();
    if (next.done) leave(visit.id);
    else if (!order.has(next.value)) enter(next.value);
    else if (isOpen.has(next.value)) lower(visit.id, order.get(next.value));
  }

  function leave(id: string): void {
    visits.pop();
    const parent = visits.at(-1);
    if (parent) lower(parent.id, lowest.get(id));
    if (lowest.get(id) !== order.get(id)) return;
    const component = open.splice(open.lastIndexOf(id));
    for (const member of component) isOpen.delete(member);
    components.push(component);
  }

  function lower(id: string, candidate = Number.POSITIVE_INFINITY): void {
    lowest.set(id, Math.min(lowest.get(id) ?? Number.POSITIVE_INFINITY, candidate));
  }
}
