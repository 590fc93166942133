import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { listenLocally } from '../../../src/streams/transport/localListener.ts';
import { tempDir } from '../../support/tempDir.ts';

async function listenBelow(folder: string) {
  const listener = await listenLocally(folder, (socket) => socket.on('error', () => {}).end('hello'));
  onTestFinished(() => listener.close());
  return listener;
}

async function greetingOf(path: string): Promise<string> {
  const socket = connect(path);
  const [data] = await once(socket, 'data');
  socket.destroy();
  return String(data);
}

function setAge(folder: string, ageMs: number): void {
  const at = (Date.now() - ageMs) / 1000;
  utimesSync(folder, at, at);
}

/** Leaves the socket of a process that was killed. */
function leaveSocket(folder: string, name = 'socket', ageMs = 60_000): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  const code = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', code]);
  setAge(folder, ageMs);
  return path;
}

test('A local listener has a folder of mode 0700, which is gone after close', async () => {
  const folder = tempDir();
  const listener = await listenBelow(folder);
  const own = join(folder, readdirSync(folder)[0] ?? '');
  expect([listener.path, statSync(own).mode & 0o777]).toEqual([join(own, 'socket'), 0o700]);
  expect(await greetingOf(listener.path)).toBe('hello');
  await listener.close();
  await listener.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('Two local listeners below one folder do not meet', async () => {
  const folder = tempDir();
  const [one, other] = [await listenBelow(folder), await listenBelow(folder)];
  expect(one.path).not.toBe(other.path);
  await one.close();
  expect(await greetingOf(other.path)).toBe('hello');
});

test('A local listener removes what dead processes and threads left, and nothing else', async () => {
  const folder = tempDir();
  const dead = leaveSocket(join(folder, 'callway-voice-dead'));
  const empty = join(folder, 'callway-voice-empty');
  mkdirSync(empty);
  setAge(empty, 60_000);
  const live = await listenBelow(folder);
  setAge(dirname(live.path), 60_000);
  const kept = [
    leaveSocket(join(folder, 'callway-voice-young'), 'socket', 0),
    leaveSocket(join(folder, 'callway-voice-other'), 'other.sock'),
    leaveSocket(join(folder, 'somebody-else')),
    live.path,
  ];
  const data = join(folder, 'callway-voice-data', 'voice.db');
  mkdirSync(dirname(data));
  writeFileSync(data, '');
  setAge(dirname(data), 60_000);
  await listenBelow(folder);
  expect([dirname(dead), empty].map(existsSync)).toEqual([false, false]);
  expect([...kept, data].filter((path) => !existsSync(path))).toEqual([]);
  expect(await greetingOf(live.path)).toBe('hello');
});

test.each([
  ['a folder that does not exist', 'missing', 'ENOENT'],
  ['a path that is too long', 'long'.repeat(30), 'longer than 100 bytes'],
  ['a path with a colon', 'a:b', 'a URL cannot carry'],
  ['a path with a blank', 'a b', 'a URL cannot carry'],
  ['a path with a question mark', 'a?b', 'a URL cannot carry'],
])('A local listener refuses %s, and leaves nothing behind', async (_what, name, problem) => {
  const folder = join(tempDir(), name);
  if (name !== 'missing') mkdirSync(folder);
  await expect(listenLocally(folder, () => {})).rejects.toThrow(problem);
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
});
