import { defineConfig } from 'vitest/config';

import { LongestFirst } from './test/support/longestFirst.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    // Generous, since the machine may be busy with other things: what a test measures, it measures by itself.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    setupFiles: ['test/support/patience.ts'],
    expect: { poll: { timeout: 15_000, interval: 50 } },
    pool: 'forks',
    // Many tests wait for phones and servers: a third worker fills the time in which the two others do.
    maxWorkers: 3,
    // Our modules keep no state (only gateway.ts builds objects, and nothing is mocked), so that files can share them:
    // loading the program anew for each of some 330 files costs more than most of their tests.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/totalsReporter.ts'],
  },
});
