import type { Page, PageOf } from '../../base/values/page.ts';
import type { TestCase } from './testCase.ts';
import type { TestSuite } from './testSuite.ts';

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
