import { afterAll, afterEach, beforeAll } from 'vitest';

import { detectLeaks } from './leaks.ts';

/**
 * For a test file whose tests open things: each is closed after its test, the newest first, and nothing may be left of
 * them at the file's end.
 *
 * @returns Where to put what closes them.
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
