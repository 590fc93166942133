import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node';

/** Number of passed and failed tests; a failure outside of a test counts as one failed test. */
interface Totals {
  passed: number;
  failed: number;
}

/** Writes the totals of a run to the file named by CALLWAY_TEST_TOTALS_FILE, for `scripts/commands/test.mjs`. */
export default class TotalsReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const file = process.env.CALLWAY_TEST_TOTALS_FILE;
    if (file) writeFileSync(file, JSON.stringify(totalsOf(modules, unhandledErrors.length, reason)));
  }
}

function totalsOf(
  modules: readonly TestModule[],
  unhandledErrorCount: number,
  reason: TestRunEndReason,
): Totals {
  const totals = { passed: 0, failed: unhandledErrorCount + (reason === 'interrupted' ? 1 : 0) };
  for (const module of modules) {
    totals.failed += module.errors().length;
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') totals.passed += 1;
      if (state === 'failed' || state === 'pending') totals.failed += 1;
    }
  }
  return totals;
}
