import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import {
  FolderLockedError,
  type FolderLockOptions,
  lockFolder,
  START_WAIT_MS,
} from '../../../src/infra/files/folderLock.ts';
import { startChild } from '../../support/child.ts';
import { tempDir } from '../../support/tempDir.ts';

/** Larger than every pid of Linux and macOS. */
const DEAD_PID = 2 ** 22 + 1;

const lockIn = (folder: string) => join(folder, 'callway.lock');
const holderOf = (folder: string) => JSON.parse(readFileSync(lockIn(folder), 'utf8'));
function writeLock(folder: string, holder: object) {
  const own = { token: 'left', pid: process.pid, host: hostname() };
  writeFileSync(lockIn(folder), JSON.stringify({ ...own, ...holder }));
}
async function lockAndRelease(folder: string, options?: FolderLockOptions) {
  const release = await lockFolder(folder, options);
  expect(holderOf(folder)).toMatchObject({ pid: process.pid, host: hostname() });
  await release();
  expect(readdirSync(folder)).toEqual([]);
}

test('A folder is locked once, and again after its release', async () => {
  const folder = tempDir();
  const release = await lockFolder(folder);

  const refused = lockFolder(folder);
  await expect(refused).rejects.toBeInstanceOf(FolderLockedError);
  await expect(refused).rejects.toThrow(`${folder} is in use by another Callway (process ${process.pid}`);
  expect(readdirSync(folder)).toEqual(['callway.lock']);

  await release();
  await release();
  await lockAndRelease(folder);
});

test('One of many concurrent lockers gets the lock of a dead process', async () => {
  const folder = tempDir();
  writeLock(folder, { pid: DEAD_PID });

  const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));

  const won = results.filter((result) => result.status === 'fulfilled');
  expect(won).toHaveLength(1);
  for (const { value: release } of won) await release();
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['a dead process', { pid: DEAD_PID }],
  ['a process whose pid was reused', { startedAtTicks: '1' }],
])('The lock of %s is taken over', async (_, holder) => {
  const folder = tempDir();
  writeLock(folder, holder);

  await lockAndRelease(folder);
});

test.each(['', '{"pid": 1', 'rubbish'])('A lock with the content %j is taken over', async (content) => {
  const folder = tempDir();
  writeFileSync(lockIn(folder), content);
  const old = new Date(Date.now() - 60_000);
  utimesSync(lockIn(folder), old, old);

  await lockAndRelease(folder);
});

test('A lock from the future is taken over, unless its heartbeat goes on', async () => {
  const folder = tempDir();
  writeLock(folder, { host: 'elsewhere' });
  const future = (ms: number) => new Date(Date.now() + 86_400_000 + ms);
  const beat = (ms = 0) => utimesSync(lockIn(folder), future(ms), future(ms));
  beat();
  const beating = setInterval(() => beat(1), 500);
  await expect(lockFolder(folder)).rejects.toThrow('on elsewhere');
  clearInterval(beating);

  await lockAndRelease(folder);
}, 15_000);

test.each(['', 'null', '{}', '{"token":"../x","pid":1,"host":"a"}'])(
  'A lock that was damaged just now is named: %j',
  async (content) => {
    const folder = tempDir();
    writeFileSync(lockIn(folder), content);
    await expect(lockFolder(folder)).rejects.toThrow(`${lockIn(folder)} is damaged; delete it`);
  },
);

test('The lock of a living process is not taken over until it exits', async () => {
  const folder = tempDir();
  const child = await startChild('sleep', ['600'], {});
  onTestFinished(() => child.kill('SIGKILL'));
  writeLock(folder, { pid: child.pid });

  await expect(lockFolder(folder)).rejects.toThrow(`process ${child.pid} on ${hostname()}`);

  child.kill('SIGKILL');
  await child.ended;
  await lockAndRelease(folder);
});

test('The lock of a zombie is taken over at once', async () => {
  const folder = tempDir();
  // The shell becomes `sleep`, which never reaps its child: the killed child stays a zombie.
  const parent = await startChild('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {});
  onTestFinished(() => parent.kill('SIGKILL'));
  await expect.poll(() => parent.lines[0]).toMatch(/^\d+$/);
  const pid = Number(parent.lines[0]);
  const stateOf = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2];
  process.kill(pid, 'SIGKILL');
  await expect.poll(stateOf).toBe('Z');
  writeLock(folder, { pid });

  await lockAndRelease(folder);
});

describe('A start that waits', () => {
  test('gets the folder when the holder exits', async () => {
    const folder = tempDir();
    const child = await startChild('sleep', ['1'], {});
    writeLock(folder, { pid: child.pid });
    const holders: object[] = [];

    await lockAndRelease(folder, { waitMs: START_WAIT_MS, onWait: (holder) => holders.push(holder) });
    expect(child.isRunning()).toBe(false);
    expect(holders).toEqual([{ pid: child.pid, host: hostname() }]);
  });

  test('is refused when the holder stays', async () => {
    const folder = tempDir();
    const child = await startChild('sleep', ['600'], {});
    onTestFinished(() => child.kill('SIGKILL'));
    writeLock(folder, { pid: child.pid });
    const startedMs = performance.now();

    await expect(lockFolder(folder, { waitMs: 300 })).rejects.toBeInstanceOf(FolderLockedError);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(300);
  });
});

test('A holder on another host is alive while its heartbeat is fresh', async () => {
  const folder = tempDir();
  writeLock(folder, { host: 'elsewhere', pid: DEAD_PID });
  await expect(lockFolder(folder)).rejects.toThrow('on elsewhere');

  const old = new Date(Date.now() - 16_000);
  utimesSync(lockIn(folder), old, old);
  await lockAndRelease(folder);
});

test('Releasing does not remove a successor’s lock', async () => {
  const folder = tempDir();
  const release = await lockFolder(folder);
  writeLock(folder, { token: 'successor' });

  await release();

  expect(holderOf(folder).token).toBe('successor');
});
