import { expect } from 'vitest';
import { reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { sketch, sketchNode } from './sketch.ts';

export const known = { toolIds: new Set(['lookup']) };

export const start = sketchNode('s', 'start');

export const conversation = sketchNode('c', 'conversation');

export const end = sketchNode('e', 'end');

export const whenDone = { condition: 'The caller is done.' };

export const isOpen = { condition: { '==': [{ var: 'state' }, 'open'] } };

/** The problems of a graph, as `severity code path`. */
export function review(
  nodes: readonly object[],
  edges: readonly object[],
  variables?: readonly string[],
): string[] {
  const { valid, problems } = reviewPathway(sketch(nodes, edges), {
    ...known,
    ...(variables && { variables: new Set(variables) }),
  });
  expect(valid).toBe(!problems.some(({ severity }) => severity === 'error'));
  return problems.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}
