import { expect, test } from 'vitest';
import { PiecePolicies } from '../../../src/conversation/speech/piecePolicies.ts';

const policy = (interruptAfterMs: number) => ({ interruptible: true, interruptAfterMs });

/** The bound at each position of two nodes, each with words of 100 samples, of which the last are still spoken. */
function boundsAt(positions: readonly number[], ownsLastWords: boolean): (number | undefined)[] {
  const policies = new PiecePolicies();
  policies.enterNode(policy(1), false);
  for (const end of [100, 200]) {
    policies.add();
    policies.complete(end);
  }
  policies.enterNode(policy(2), false);
  policies.add();
  policies.complete(300);
  policies.enterNode(policy(3), ownsLastWords);
  policies.add();
  policies.add();
  policies.complete(400);
  return positions.map((position) => policies.at(position)?.interruptAfterMs);
}

test('A node’s policy of interruptions holds until its words were heard', () => {
  expect(boundsAt([0, 199, 200, 299, 300, 399, 400, 900], false)).toEqual([1, 1, 2, 2, 3, 3, 3, 3]);
});

test('Words that were said for the next node have its policy', () => {
  expect(boundsAt([199, 200, 300], true)).toEqual([1, 3, 3]);
});

test('No policy holds where everything was heard, or nothing is said at a node', () => {
  const policies = new PiecePolicies();
  policies.add();
  expect(policies.at(0)).toBeUndefined();
  policies.enterNode(policy(1), false);
  policies.add();
  policies.complete(100);
  expect(policies.at(100)).toBeUndefined();
});
