import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';

/** The awaited event comes at once; the timeout is for busy machines. */
const TIMEOUT_MS = 15_000;
const FIRST_PAUSE_MS = 10;
/** What comes after seconds is asked for rarely: a request to the API and a failed assertion cost some 5 ms. */
const LONGEST_PAUSE_MS = 200;
const PAUSE_GROWTH = 1.3;

vi.waitFor = async (callback, options) => {
  const { timeout = TIMEOUT_MS, interval } =
    typeof options === 'number' ? { timeout: options } : (options ?? {});
  const beganMs = performance.now();
  for (let pauseMs = interval ?? FIRST_PAUSE_MS; ; ) {
    try {
      return await callback();
    } catch (error) {
      if (performance.now() - beganMs > timeout) throw error;
    }
    await sleep(pauseMs);
    if (interval === undefined) pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * PAUSE_GROWTH);
  }
};
