import { vi } from 'vitest';

/** What is waited for comes at once; this is for machines that are busy with other things. */
const PATIENCE = { timeout: 15_000, interval: 20 };

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, { ...PATIENCE, ...(typeof options === 'number' ? { timeout: options } : options) });
