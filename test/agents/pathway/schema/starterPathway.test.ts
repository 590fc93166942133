import { expect, it } from 'vitest';
import { reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { starterPathway } from '../../../../src/agents/pathway/schema/starterPathway.ts';

it('The starter pathway has a start, a conversation and an end node, and no problems', () => {
  const pathway = starterPathway();
  expect(pathway.nodes.map(({ type }) => type)).toEqual(['start', 'conversation', 'end']);
  expect(reviewPathway(pathway, { toolIds: new Set(), variables: new Set() })).toEqual({
    valid: true,
    problems: [],
  });
});

it('Each project gets its own copy of the starter pathway', () => {
  expect(starterPathway()).toEqual(starterPathway());
  expect(starterPathway().nodes).not.toBe(starterPathway().nodes);
});
