import { expect, test } from 'vitest';

import { createPendingTasks } from '../../src/base/pendingTasks.ts';

test('what is under way is waited for, failures and what is added meanwhile included', async () => {
  const underWay = createPendingTasks();
  const [first, second] = [pending(), pending()];
  let isSettled = false;
  const added = underWay.add(first.promise);
  const settled = underWay.settled().then(() => {
    isSettled = true;
  });
  const failing = underWay.add(second.promise);
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
