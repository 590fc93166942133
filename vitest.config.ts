import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { LongestFirst } from './test/support/longestFirst.ts';

/** Run by `npm run vendors`: each vendor's protocol has unit tests, and its call would add nothing but time. */
const VENDOR_CALLS = 'test/e2e/vendorCalls.realtime.test.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.CALLWAY_VENDOR_CALLS === undefined ? [VENDOR_CALLS] : [],
    // Generous, for busy machines: a test that measures time does so itself.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    globalSetup: ['test/support/buildSetup.ts', 'test/support/serverSetup.ts'],
    setupFiles: ['test/support/waitDefaults.ts'],
    expect: { poll: { timeout: 15_000, interval: 100 } },
    // Threads and processes start from the build of the test run.
    alias: [
      {
        find: /^\.{1,2}\/(.*\/)?thread\.ts$/,
        replacement: fileURLToPath(new URL('test/support/builtThread.ts', import.meta.url)),
      },
      {
        find: /^\.{1,2}\/(.*\/)?childProcess\.ts$/,
        replacement: fileURLToPath(new URL('test/support/builtChildProcess.ts', import.meta.url)),
      },
    ],
    pool: 'forks',
    // Room for the garbage of short tests: with V8's own 16 MB its collection takes up to a fifth of their time.
    execArgv: ['--max-semi-space-size=64'],
    // Modules keep no state (only src/app/ builds objects, and nothing is mocked), so that test files can share a process:
    // loading the program again for each of some 540 files would cost more than most tests. All kinds of tests share the
    // processes, for the same reason.
    isolate: false,
    // Tests in real time wait two thirds of their time, tests against servers a half. Five workers fill two cores; with four
    // the calls in real time keep theirs on a slow machine.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/totalsReporter.ts'],
  },
});
