import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import './skips.ts';

/** Number of tests by result; a failure outside of a test counts as one failed test. */
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
  /** Number of skipped tests by reason. */
  skipReasons: Record<string, number>;
}

/** Writes the totals of a run to the file named by CALLWAY_TEST_TOTALS_FILE, for `scripts/commands/test.mjs`. */
export default class TotalsReporter implements Reporter {
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const file = process.env.CALLWAY_TEST_TOTALS_FILE;
    if (!file) return;
    const failed = unhandledErrors.length + (reason === 'interrupted' ? 1 : 0);
    writeFileSync(file, JSON.stringify(totalsOf(modules, failed, this.#isFiltered)));
  }
}

function totalsOf(modules: readonly TestModule[], failedOutside: number, isFiltered: boolean): Totals {
  const totals: Totals = { passed: 0, failed: failedOutside, skipped: 0, skipReasons: {} };
  for (const module of modules) {
    totals.failed += module.errors().length;
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') totals.passed += 1;
      if (state === 'failed' || state === 'pending') totals.failed += 1;
      if (state !== 'skipped') continue;
      const skipReason = skipReasonOf(test, isFiltered);
      totals.skipped += 1;
      totals.skipReasons[skipReason] = (totals.skipReasons[skipReason] ?? 0) + 1;
    }
  }
  return totals;
}

function skipReasonOf(test: TestCase, isFiltered: boolean): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return (
    note ?? test.meta().skipReason ?? (isFiltered ? 'not selected' : `without a reason: ${test.fullName}`)
  );
}
