import { expect, it } from 'vitest';
import { reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import { starterPathway } from '../../../../src/agents/pathway/schema/starterPathway.ts';

it('the starter pathway greets, talks and ends, with no problem at all', () => {
  const pathway = starterPathway();
  expect(pathway.nodes.map(({ type }) => type)).toEqual(['start', 'conversation', 'end']);
  expect(reviewPathway(pathway, { toolIds: new Set(), variables: new Set() })).toEqual({
    valid: true,
    problems: [],
  });
});

it('each project gets a starter pathway of its own', () => {
  expect(starterPathway()).toEqual(starterPathway());
  expect(starterPathway().nodes).not.toBe(starterPathway().nodes);
});
