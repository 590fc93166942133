import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { packagePath } from '../../src/base/packagePath.ts';

test('packagePath finds the package from its sources', () => {
  expect(JSON.parse(readFileSync(packagePath('package.json'), 'utf8')).name).toBe('callway');
});
