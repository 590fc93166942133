import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readTotals, summaryOf } from '../../scripts/commands/test.mjs';
import { makeTempDir, tempDir } from '../support/tempDir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const head = "import { afterAll, describe, expect, test } from 'vitest';\n";

const suites = {
  passing: "test('a', () => {}); test('b', () => {}); test.skip('c', () => {});",
  failing: "test('a', () => {}); test('b', () => expect(1).toBe(2));",
  unloadable: "throw new Error('at import');",
  'a failing hook':
    "describe('d', () => { afterAll(() => { throw new Error('hook'); }); test('a', () => {}); });",
  'an unhandled error': "test('a', () => { Promise.reject(new Error('unhandled')); });",
  skipping: `
    describe('s', { skip: true, meta: { skipReason: 'no phone' } }, () => { test('a', () => {}); test('b', () => {}); });
    test('c', (context) => context.skip('no network'));`,
  empty: '',
};

/** Runs vitest with the totals reporter over sample files, inside the repository so that vitest is found. */
async function totalsOf(names: (keyof typeof suites)[], config = '', args: string[] = []) {
  const folder = tempDir();
  mkdirSync(join(folder, 'suites'));
  for (const [index, name] of names.entries()) {
    writeFileSync(join(folder, 'suites', `${index}.test.ts`), suites[name] && head + suites[name]);
  }
  const configFile = join(folder, 'vitest.config.mjs');
  const reporter = join(root, 'test/support/totalsReporter.ts');
  writeFileSync(
    configFile,
    `export default { root: ${JSON.stringify(folder)}, test: { include: ['suites/*.test.ts'], isolate: false, maxWorkers: 1, reporters: [${JSON.stringify(reporter)}], ${config} } };`,
  );
  const file = join(folder, 'totals.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, CALLWAY_TEST_TOTALS_FILE: file };
  const code = await run(process.execPath, [vitest, 'run', '--config', configFile, ...args], {
    cwd: root,
    env,
  }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  return { code, ...readTotals(file, code) };
}

/** The runs within have the processor only when no test of the suite that needs real time wants it. */
const RUN_TIMEOUT_MS = 300_000;
const NONE = { skipped: 0, skipReasons: {} };
const GOOD = { passed: 3, failures: [], ...NONE };
test('the totals of a run in which everything happens', { timeout: RUN_TIMEOUT_MS }, async () => {
  const kinds = Object.keys(suites) as (keyof typeof suites)[];
  expect(await totalsOf(kinds)).toEqual({
    code: 1,
    // The two of the passing suite, and those beside the failures.
    passed: 5,
    failures: [
      expect.stringMatching(/^suites\/1\.test\.ts > b\n {2}expected 1 to be 2 .*\n {2}at .*1\.test\.ts:2$/s),
      expect.stringMatching(/^suites\/2\.test\.ts\n {2}at import\n/),
      expect.stringMatching(/^suites\/3\.test\.ts > d\n {2}hook\n/),
      expect.stringMatching(/^suites\/6\.test\.ts\n {2}No test suite found/),
      expect.stringMatching(/^outside of a test\n {2}unhandled\n/),
    ],
    skipped: 4,
    skipReasons: { 'no phone': 2, 'no network': 1, 'without a reason: c': 1 },
  });
});

test('a global setup that fails is a failure', { timeout: RUN_TIMEOUT_MS }, async () => {
  const { path, remove } = makeTempDir();
  const setup = join(path, 'setup.mjs');
  writeFileSync(setup, "export default () => { throw new Error('no database'); };");
  const totals = await totalsOf(['passing'], `globalSetup: [${JSON.stringify(setup)}],`);
  remove();
  expect(totals).toEqual({ code: 1, passed: 0, failures: ['vitest ended with 1'], ...NONE });
});

test.each([
  [
    'vitest that died without totals',
    undefined,
    null,
    { passed: 0, failures: ['vitest ended with a signal'], ...NONE },
  ],
  ['totals that deny a failure', GOOD, 1, { ...GOOD, failures: ['vitest ended with 1'] }],
  ['totals of a good run', GOOD, 0, GOOD],
])('%s', (_, content, code, expected) => {
  const file = join(tempDir(), 'totals.json');
  if (content) writeFileSync(file, JSON.stringify(content));
  expect(readTotals(file, code)).toEqual(expected);
});

test('The last line is the totals, below the failures and the reasons of skipped tests', () => {
  const skipReasons = { 'no phone': 2, 'no network': 1 };
  expect(summaryOf({ passed: 5, failures: ['a > b\n  no'], skipped: 3, skipReasons })).toBe(
    'failed: a > b\n  no\nskipped 2: no phone\nskipped 1: no network\n5 passed, 1 failed, 3 skipped',
  );
});
