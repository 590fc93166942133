import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestError } from 'vitest';
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import './skips.ts';

/** Lines of a failure's error, as far as they tell more than the output above. */
const ERROR_LINES = 60;

/** Results of a run; a failure outside of a test counts as one failed test. */
interface Totals {
  passed: number;
  /** Each failed test's name, and its error in lines below. */
  failures: string[];
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
    const totals = totalsOf(modules, this.#isFiltered);
    for (const error of unhandledErrors) totals.failures.push(failureOf('outside of a test', [error]));
    if (reason === 'interrupted') totals.failures.push('interrupted');
    writeFileSync(file, JSON.stringify(totals));
  }
}

function totalsOf(modules: readonly TestModule[], isFiltered: boolean): Totals {
  const totals: Totals = { passed: 0, failures: [], skipped: 0, skipReasons: {} };
  for (const module of modules) {
    totals.failures.push(...failuresOutsideTests(module));
    for (const test of module.children.allTests()) {
      const { state, errors = [] } = test.result();
      if (state === 'passed') totals.passed += 1;
      if (state === 'failed' || state === 'pending') {
        totals.failures.push(failureOf(`${module.relativeModuleId} > ${test.fullName}`, errors));
      }
      if (state !== 'skipped') continue;
      const skipReason = skipReasonOf(test, isFiltered);
      totals.skipped += 1;
      totals.skipReasons[skipReason] = (totals.skipReasons[skipReason] ?? 0) + 1;
    }
  }
  return totals;
}

function failuresOutsideTests(module: TestModule): string[] {
  const file = module.relativeModuleId;
  return [
    ...module.errors().map((error) => failureOf(file, [error])),
    ...[...module.children.allSuites()].flatMap((suite) =>
      suite.errors().map((error) => failureOf(`${file} > ${suite.fullName}`, [error])),
    ),
  ];
}

function failureOf(place: string, errors: readonly (SerializedError | TestError)[]): string {
  const lines = errors.flatMap(({ message, diff, stack, stacks }) => [
    ...`${message}\n${stripVTControlCharacters(String(diff ?? ''))}`
      .split('\n')
      .filter((line) => line.trim()),
    ...(
      stacks?.map(({ file, line }) => `at ${relative(process.cwd(), file)}:${line}`) ??
      stack?.match(/^ +at .*/gm) ??
      []
    ).slice(0, 2),
  ]);
  return [place, ...lines.slice(0, ERROR_LINES).map((line) => `  ${line}`)].join('\n');
}

function skipReasonOf(test: TestCase, isFiltered: boolean): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return (
    note ?? test.meta().skipReason ?? (isFiltered ? 'not selected' : `without a reason: ${test.fullName}`)
  );
}
