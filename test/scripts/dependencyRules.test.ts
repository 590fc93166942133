import { expect, test } from 'vitest';
import { wideIn } from '../../scripts/lib/dependencyRules.mjs';

const withMembers = (count: number) => `
export interface DialerDeps extends Base {
${Array.from({ length: count }, (_, n) => `  /** Says: it. */\n  readonly one${n}?: string;`).join('\n')}
}
`;

test.each([
  [12, []],
  [13, ['2: DialerDeps has 13 members']],
])('The check of dependencies reads an interface with %i members', (count, found) => {
  expect(wideIn(withMembers(count))).toEqual(found);
});
