import { afterAll, afterEach, beforeAll } from 'vitest';

import { detectLeaks } from './leaks.ts';

/**
 * Runs cleanups after each test, newest first, and fails the file when a resource is leaked.
 *
 * @returns List to push cleanups to.
 */
export function useCleanups(): (() => Promise<void>)[] {
  const cleanups: (() => Promise<void>)[] = [];
  let assertNoLeaks: (() => Promise<void>) | undefined;
  beforeAll(() => {
    assertNoLeaks = detectLeaks();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(() => assertNoLeaks?.());
  return cleanups;
}
