import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import { createEnding, type Ending, Interrupted } from '../../src/demo/ending.ts';
import { makeTempDir } from '../support/tempDir.ts';

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

const make = (keepsData = false): Ending =>
  createEnding({
    screen: { note: (text) => void told.push(text), failure: (text) => void told.push(text) },
    dataFolder,
    keepsData,
    log: 'the.log',
    monotonicMs: () => nowMs,
    exit: (code) => void exits.push(code),
  });

test('one Ctrl-C lets it close down, however often it is handed on; another cuts it off, with nothing left', () => {
  const ending = make();
  ending.by(new Interrupted());
  nowMs += 900;
  ending.by(new Interrupted());
  expect([ending.signal.aborted, exits, told]).toEqual([true, [], [expect.stringContaining('Ctrl-C')]]);
  nowMs += 200;
  ending.by(new Interrupted());
  expect([exits, existsSync(dataFolder)]).toEqual([[130], false]);
});

test.each([
  ['that Ctrl-C asked for', new Interrupted(), 130],
  ['of a demo that takes too long', new Error('Time is up'), 1],
])('an end %s is cut off where it does not come', (_what, reason, code) => {
  const ending = make(true);
  ending.by(reason);
  vi.advanceTimersByTime(TOO_LONG_MS - 1);
  expect(exits).toEqual([]);
  vi.advanceTimersByTime(1);
  expect([exits, ending.signal.reason, told.at(-1)]).toEqual([
    [code],
    reason,
    expect.stringContaining('the.log'),
  ]);
  expect(existsSync(dataFolder)).toBe(true);
});

test('who is cut off takes the server of the queue along', async () => {
  const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  const over = once(server, 'exit');
  writeFileSync(join(dataFolder, 'redis', 'redis.pid'), `${server.pid}\n`);
  make().by(new Error('Time is up'));
  vi.advanceTimersByTime(TOO_LONG_MS);
  expect(await over).toEqual([null, 'SIGTERM']);
});
