import { z } from 'zod';
import type { Page, PageOf } from '../../base/values/page.ts';
import type { TestCase } from './testCase.ts';

const testCaseIds = z.array(z.string().min(1).max(128)).max(1000);
const name = z.string().min(1).max(128).meta({ example: 'Before each release' });

export const testSuiteInput = z.strictObject({ name, testCaseIds: testCaseIds.optional() });
export const testSuitePatch = z.strictObject({
  name: name.optional(),
  testCaseIds: testCaseIds.optional().describe('Replaces all existing connections.'),
});
export const testSuite = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    name: z.string(),
    testCases: z.array(z.object({ id: z.uuid() })),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'TestSuite' });

export type TestSuite = z.infer<typeof testSuite>;

export interface TestCaseStore {
  /** @param sourceSessionId - The session that it was made from, with whose customer it is erased. */
  insert(testCase: TestCase, sourceSessionId?: string): Promise<void>;
  find(projectId: string, testCaseId: string, lock?: 'for update'): Promise<TestCase | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<TestCase>>;
  update(testCase: TestCase): Promise<void>;
  /** Removes the case, also from its test suites. */
  remove(projectId: string, testCaseId: string): Promise<boolean>;
  /** The ids that belong to the project; in a transaction these cannot be deleted until its end. */
  known(projectId: string, testCaseIds: readonly string[]): Promise<Set<string>>;
}

export interface TestSuiteStore {
  insert(suite: TestSuite): Promise<void>;
  find(projectId: string, testSuiteId: string, lock?: 'for update'): Promise<TestSuite | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<TestSuite>>;
  update(suite: TestSuite): Promise<void>;
  remove(projectId: string, testSuiteId: string): Promise<boolean>;
}
