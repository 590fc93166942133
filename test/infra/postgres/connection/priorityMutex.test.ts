import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { createPriorityMutex } from '../../../../src/infra/postgres/connection/priorityMutex.ts';

test('Foreground tasks run first; each priority keeps its order', async () => {
  const inTurn = createPriorityMutex();
  const done: string[] = [];
  const work = (name: string) => async () => void done.push(name);
  await Promise.all([
    inTurn('background', work('b1')),
    inTurn('background', work('b2')),
    inTurn('background', work('b3')),
    inTurn('foreground', work('f1')),
    inTurn('foreground', work('f2')),
  ]);
  expect(done).toEqual(['b1', 'f1', 'f2', 'b2', 'b3']);
});

test('One task runs at a time, and the event loop runs between two', async () => {
  const inTurn = createPriorityMutex();
  let working = 0;
  let turns = 0;
  let isOver = false;
  const turning = (async () => {
    for (; !isOver; turns += 1) await turn();
  })();
  const most = await Promise.all(
    Array.from({ length: 20 }, () =>
      inTurn('foreground', async () => {
        working += 1;
        const together = working;
        await Promise.resolve();
        working -= 1;
        return together;
      }),
    ),
  );
  isOver = true;
  await turning;
  expect(Math.max(...most)).toBe(1);
  expect(turns).toBeGreaterThanOrEqual(19);
});

test('A failed task rejects for its caller and blocks no other task', async () => {
  const inTurn = createPriorityMutex();
  const broken = inTurn('foreground', async () => {
    throw new Error('broken');
  });
  const next = inTurn('background', async () => 'done');
  await expect(broken).rejects.toThrow('broken');
  expect(await next).toBe('done');
  expect(await inTurn('foreground', async () => 'again')).toBe('again');
});
