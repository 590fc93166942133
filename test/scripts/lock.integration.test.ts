import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withLock } from '../../scripts/lib/lock.mjs';
import { tempDir } from '../support/tempDir.ts';

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync('true').pid;
}

test('work under one lock never overlaps', async () => {
  const path = join(tempDir(), 'lock');
  const log: string[] = [];
  const work = (name: string) =>
    withLock(path, async () => {
      log.push(`${name} begins`);
      await sleep(30);
      log.push(`${name} ends`);
    });
  await Promise.all([work('a'), work('b'), work('c')]);
  const names = log.filter((_, index) => index % 2 === 0).map((line) => line[0]);
  expect(log).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect([...names].sort()).toEqual(['a', 'b', 'c']);
  expect(existsSync(path)).toBe(false);
});

test('a dead holder’s lock is taken over', async () => {
  const path = join(tempDir(), 'lock');
  writeFileSync(path, String(deadPid()));
  expect(await withLock(path, async () => 'done')).toBe('done');
  expect(existsSync(path)).toBe(false);
});

test('waiting for a living holder ends after patienceMs', async () => {
  const path = join(tempDir(), 'lock');
  writeFileSync(path, '1');
  await expect(withLock(path, async () => 'done', { patienceMs: 0 })).rejects.toThrow(
    /Process 1 has been installing for too long.*lock/,
  );
  expect(existsSync(path)).toBe(true);
});

test('a failure releases the lock', async () => {
  const path = join(tempDir(), 'lock');
  await expect(
    withLock(path, async () => {
      throw new Error('failed');
    }),
  ).rejects.toThrow('failed');
  expect(existsSync(path)).toBe(false);
});
