import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { FolderLockedError, lockFolder } from '../../../src/infra/files/folderLock.ts';
import { startChild } from '../../support/child.ts';
import { tempDir } from '../../support/tempDir.ts';

/** Beyond every pid that Linux or macOS give. */
const DEAD_PID = 2 ** 22 + 1;

const lockIn = (folder: string) => join(folder, 'callway.lock');
const holderOf = (folder: string) => JSON.parse(readFileSync(lockIn(folder), 'utf8'));
function leaveLock(folder: string, holder: object) {
  const own = { token: 'left', pid: process.pid, host: hostname() };
  writeFileSync(lockIn(folder), JSON.stringify({ ...own, ...holder }));
}
async function takeAndGiveBack(folder: string) {
  const release = await lockFolder(folder);
  expect(holderOf(folder)).toMatchObject({ pid: process.pid, host: hostname() });
  await release();
  expect(readdirSync(folder)).toEqual([]);
}

test('a folder is taken once, and again after it was given back', async () => {
  const folder = tempDir();
  const release = await lockFolder(folder);

  const refused = lockFolder(folder);
  await expect(refused).rejects.toBeInstanceOf(FolderLockedError);
  await expect(refused).rejects.toThrow(`${folder} is in use by another Callway (process ${process.pid}`);
  expect(readdirSync(folder)).toEqual(['callway.lock']);

  await release();
  await release();
  await takeAndGiveBack(folder);
});

test('of many that come at once one gets it', async () => {
  const folder = tempDir();
  leaveLock(folder, { pid: DEAD_PID });

  const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));

  const won = results.filter((result) => result.status === 'fulfilled');
  expect(won).toHaveLength(1);
  for (const { value: release } of won) await release();
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['a process that is gone', { pid: DEAD_PID }],
  ['a process whose pid another has now', { startedAtTicks: '1' }],
])('the lock of %s is taken over', async (_, holder) => {
  const folder = tempDir();
  leaveLock(folder, holder);

  await takeAndGiveBack(folder);
});

test.each(['', '{"pid": 1', 'rubbish'])('a lock that reads %j is taken over', async (content) => {
  const folder = tempDir();
  writeFileSync(lockIn(folder), content);
  const old = new Date(Date.now() - 60_000);
  utimesSync(lockIn(folder), old, old);

  await takeAndGiveBack(folder);
});

test('the lock of a living process is refused while it lives', async () => {
  const folder = tempDir();
  const child = await startChild('sleep', ['600'], {});
  onTestFinished(() => child.kill('SIGKILL'));
  leaveLock(folder, { pid: child.pid });

  await expect(lockFolder(folder)).rejects.toThrow(`process ${child.pid} on ${hostname()}`);

  child.kill('SIGKILL');
  await child.ended;
  await takeAndGiveBack(folder);
});

test('a process of another host counts as living while its lock is touched', async () => {
  const folder = tempDir();
  leaveLock(folder, { host: 'elsewhere', pid: DEAD_PID });
  await expect(lockFolder(folder)).rejects.toThrow('on elsewhere');

  const old = new Date(Date.now() - 16_000);
  utimesSync(lockIn(folder), old, old);
  await takeAndGiveBack(folder);
});

test('giving back does not remove the lock of a successor', async () => {
  const folder = tempDir();
  const release = await lockFolder(folder);
  leaveLock(folder, { token: 'successor' });

  await release();

  expect(holderOf(folder).token).toBe('successor');
});
