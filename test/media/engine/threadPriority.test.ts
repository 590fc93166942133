import { once } from 'node:events';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';

import { startThread } from '../../../src/base/thread.ts';
import type { RaisedPriority } from './fixtures/priorityThread.ts';

test('setThreadPriority raises the calling thread alone, or returns false', async () => {
  const ours = getPriority();
  const thread = startThread(new URL('fixtures/priorityThread.ts', import.meta.url), {});
  const [{ before, isRaised, after }] = (await once(thread, 'message')) as [RaisedPriority];
  await thread.terminate();
  expect(isRaised ? after < before : after === before).toBe(true);
  expect(getPriority()).toBe(ours);
  if (process.platform !== 'linux') expect(isRaised).toBe(false);
});
