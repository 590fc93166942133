import { expect, test } from 'vitest';

import { createPendingTasks } from '../../../src/base/async/pendingTasks.ts';

test('settled waits for all pending tasks, including failed ones and ones that were added meanwhile', async () => {
  const tasks = createPendingTasks();
  const [first, second] = [pending(), pending()];
  let isSettled = false;
  const added = tasks.add(first.promise);
  const settled = tasks.settled().then(() => {
    isSettled = true;
  });
  const failing = tasks.add(second.promise);
  first.resolve('done');
  expect(await added).toBe('done');
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSettled).toBe(false);
  second.reject(new Error('not done'));
  await expect(failing).rejects.toThrow('not done');
  await settled;
  await createPendingTasks().settled();
});

function pending() {
  let resolve: (value: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<string>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}
