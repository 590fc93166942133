/**
 * Finds the strongly connected components of a directed graph: the largest sets whose members can all reach each
 * other. A node in no cycle is a component of its own. Iterative, so that no graph can exhaust the stack.
 *
 * @param successors - Only ids among `ids`.
 * @see Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972)
 */
export function stronglyConnected(ids, successors) {
  const order = new Map();
  const lowest = new Map();
  const open = [];
  const isOpen = new Set();
  const components = [];
  const visits = [];
  for (const root of ids) {
    if (!order.has(root)) enter(root);
    for (let visit = visits.at(-1); visit; visit = visits.at(-1)) step(visit);
  }
  return components;
  function enter(id) {
    order.set(id, order.size);
    lowest.set(id, order.size - 1);
    open.push(id);
    isOpen.add(id);
    visits.push({ id, successors: successors(id)[Symbol.iterator]() });
  }
  function step(visit) {
    const next = visit.successors.next();
    if (next.done) leave(visit.id);
    else if (!order.has(next.value)) enter(next.value);
    else if (isOpen.has(next.value)) lower(visit.id, order.get(next.value));
  }
  function leave(id) {
    visits.pop();
    const parent = visits.at(-1);
    if (parent) lower(parent.id, lowest.get(id));
    if (lowest.get(id) !== order.get(id)) return;
    const component = open.splice(open.lastIndexOf(id));
    for (const member of component) isOpen.delete(member);
    components.push(component);
  }
  function lower(id, candidate = Number.POSITIVE_INFINITY) {
    lowest.set(id, Math.min(lowest.get(id) ?? Number.POSITIVE_INFINITY, candidate));
  }
}
