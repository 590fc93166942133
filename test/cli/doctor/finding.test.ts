import { expect, it } from 'vitest';
import { shownAddress } from '../../../src/cli/doctor/finding.ts';

it('shows addresses without what may be secret', () => {
  expect(shownAddress('redis+sentinel://u:p/w@a,b/master?password=x')).toBe('redis+sentinel://a,b/master');
});
