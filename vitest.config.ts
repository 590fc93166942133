import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    // Generous, since the machine may be busy with other things: what a test measures, it measures by itself.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    setupFiles: ['test/support/patience.ts'],
    expect: { poll: { timeout: 15_000, interval: 20 } },
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', './test/support/totalsReporter.ts'],
  },
});
