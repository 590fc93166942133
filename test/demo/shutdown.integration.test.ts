import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Screen } from '../../src/demo/screen.ts';
import { createShutdown, Interrupted, type Shutdown } from '../../src/demo/shutdown.ts';
import { makeTempDir } from '../support/tempDir.ts';
import { unused } from '../support/unused.ts';

const TOO_LONG_MS = 20_000;

let nowMs: number;
let exits: number[];
let told: string[];
let dataFolder: string;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  [nowMs, exits, told] = [5000, [], []];
  const { path, remove } = makeTempDir();
  dataFolder = join(path, 'data');
  mkdirSync(join(dataFolder, 'redis'), { recursive: true });
  onTestFinished(remove);
});
afterEach(() => {
  vi.useRealTimers();
});

const make = (keepsData = false): Shutdown =>
  createShutdown({
    screen: unused<Screen>('screen', {
      note: (text) => void told.push(text),
      failure: (text) => void told.push(text),
    }),
    dataFolder,
    keepsData,
    log: 'the.log',
    monotonicMs: () => nowMs,
    exit: (code) => void exits.push(code),
  });

test('The first Ctrl-C starts a shutdown, even when it is forwarded several times; the next one exits at once and leaves nothing', () => {
  const shutdown = make();
  shutdown.start(new Interrupted());
  nowMs += 900;
  shutdown.start(new Interrupted());
  expect([shutdown.signal.aborted, exits, told]).toEqual([true, [], [expect.stringContaining('Ctrl-C')]]);
  nowMs += 200;
  shutdown.start(new Interrupted());
  expect([exits, existsSync(dataFolder)]).toEqual([[130], false]);
});

test.each([
  ['after Ctrl-C', new Interrupted(), 130],
  ['of a slow demo', new Error('Time is up'), 1],
])('A shutdown %s is aborted when it takes too long', (_what, reason, code) => {
  const shutdown = make(true);
  shutdown.start(reason);
  vi.advanceTimersByTime(TOO_LONG_MS - 1);
  expect(exits).toEqual([]);
  vi.advanceTimersByTime(1);
  expect([exits, shutdown.signal.reason, told.at(-1)]).toEqual([
    [code],
    reason,
    expect.stringContaining('the.log'),
  ]);
  expect(existsSync(dataFolder)).toBe(true);
});

test('An aborted shutdown stops the Redis server', async () => {
  const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  const over = once(server, 'exit');
  writeFileSync(join(dataFolder, 'redis', 'redis.pid'), `${server.pid}\n`);
  make().start(new Error('Time is up'));
  vi.advanceTimersByTime(TOO_LONG_MS);
  expect(await over).toEqual([null, 'SIGTERM']);
});
