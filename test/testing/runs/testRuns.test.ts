import { expect, test } from 'vitest';
import { TestRuns, type TestRunsDeps } from '../../../src/testing/runs/testRuns.ts';

test('A suite that is too large to copy is refused', async () => {
  const testRuns = { casesOf: async () => ({ name: 'large', cases: undefined }) };
  const runs = new TestRuns({ testRuns } as unknown as TestRunsDeps);

  await expect(runs.suite('project', 'suite')).rejects.toMatchObject({
    category: 'too_large',
    code: 'test_suite_too_large',
  });
});
