import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { LongestFirst } from './test/support/longestFirst.ts';

const INTEGRATION = 'test/**/*.integration.test.ts';
const REALTIME = 'test/**/*.realtime.test.ts';
/** Threads start from the build of the test run. */
const built = {
  globalSetup: ['test/support/buildSetup.ts'],
  alias: [
    {
      find: /^\.{1,2}\/(.*\/)?thread\.ts$/,
      replacement: fileURLToPath(new URL('test/support/builtThread.ts', import.meta.url)),
    },
  ],
};
/** Run by `npm run vendors`: each vendor's protocol has unit tests, and its call would add nothing but time. */
const VENDOR_CALLS = 'test/e2e/vendorCalls.realtime.test.ts';
const servers = { ...built, globalSetup: [...built.globalSetup, 'test/support/serverSetup.ts'] };

export default defineConfig({
  test: {
    // Generous, for busy machines: a test that measures time does so itself.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    setupFiles: ['test/support/waitDefaults.ts'],
    expect: { poll: { timeout: 15_000, interval: 50 } },
    pool: 'forks',
    // Modules keep no state (only src/app/ builds objects, and nothing is mocked), so that test files can share a process:
    // loading the program again for each of some 380 files would cost more than most tests.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/totalsReporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          ...built,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [INTEGRATION, REALTIME],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Against real servers and programs. They wait twice as long as they compute: four workers fill two cores.
        extends: true,
        test: {
          ...servers,
          name: 'integration',
          include: [INTEGRATION],
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Calls, timers and audio in real time: apart from the tests that load the machine. They compute a third of their time.
        extends: true,
        test: {
          ...servers,
          name: 'realtime',
          include: [REALTIME],
          exclude: process.env.CALLWAY_VENDOR_CALLS === undefined ? [VENDOR_CALLS] : [],
          maxWorkers: 5,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
