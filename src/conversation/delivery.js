import { isEventCondition } from '../pathway/edgeSchema.js';
/**
 * Why a turn is aborted when the customer went on speaking before they got anything of the answer: it is then as if it
 * had not been, and comes again with all of their words.
 */
export class TurnTakenBack extends Error {
  constructor() {
    super('the customer went on speaking');
    this.name = 'TurnTakenBack';
  }
}
export function placeOf(graph, node) {
  const keys = graph.outgoing(node.id).flatMap(({ data: { condition } }) => {
    const isKeys = isEventCondition(condition) && condition.event === 'dtmf';
    return isKeys && condition.digits !== undefined ? [condition.digits] : [];
  });
  return { node, keys };
}
