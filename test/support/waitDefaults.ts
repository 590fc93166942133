import { vi } from 'vitest';

/** The awaited event comes at once; the timeout is for busy machines. */
const WAIT_DEFAULTS = { timeout: 15_000, interval: 20 };

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, { ...WAIT_DEFAULTS, ...(typeof options === 'number' ? { timeout: options } : options) });
