import { once } from 'node:events';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';

import { startThread } from '../../../src/base/threads/thread.ts';
import type { RaisedPriority } from './fixtures/priorityThread.ts';

test('The priority and the policy of the calling thread alone are raised, where that is allowed', async () => {
  const ours = getPriority();
  const thread = startThread(new URL('fixtures/priorityThread.ts', import.meta.url), {});
  const [{ before, isRaised, after, isRealTime, policy }] = (await once(thread, 'message')) as [
    RaisedPriority,
  ];
  await thread.terminate();
  expect(isRaised ? after < before : after === before).toBe(true);
  expect(policy).toBe(isRealTime ? 2 : 0);
  expect(getPriority()).toBe(ours);
  if (process.platform !== 'linux') expect(isRaised).toBe(false);
});
