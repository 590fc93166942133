import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createPocketsphinx, type Pocketsphinx } from '../../../offline/recognition/pocketsphinx.ts';
import { startProcess } from '../../../src/base/threads/childProcess.ts';
import { startThread } from '../../../src/base/threads/thread.ts';
import { startChild } from '../../support/child.ts';

const SERVICE = fileURLToPath(new URL('support/service.ts', import.meta.url));
const forever = new AbortController().signal;

let folder: string;
let pocketsphinx: Pocketsphinx | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recognizer-'));
});
afterEach(async () => {
  await pocketsphinx?.close();
  pocketsphinx = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** Replaces the recognizer by a shell script, which runs in the temporary folder. */
async function recognizerIs(script: string): Promise<void> {
  const path = join(folder, 'pocketsphinx_continuous');
  await writeFile(path, `#!/bin/sh\ncd ${folder}\n${script}\n`);
  await chmod(path, 0o755);
}

async function recognize(): Promise<string> {
  // It looks for the program as soon as it is created.
  pocketsphinx ??= createPocketsphinx(folder, startProcess);
  const utterance = pocketsphinx.open({ isNarrowband: false });
  try {
    utterance.push(new Int16Array(1600));
    return await utterance.finalize(forever);
  } finally {
    utterance.close();
  }
}

test.each([
  ['another thread', false],
  ['a voice thread', true],
])(
  'Recognizers run at a lower priority in the service’s process session, started by %s',
  async (_, isVoice) => {
    await recognizerIs('cat > /dev/null; echo "$(nice) $(cut -d " " -f 6 /proc/$$/stat)"');
    const workerData = { folder, isVoice };
    const thread = startThread(new URL('support/recognizingThread.ts', import.meta.url), { workerData });
    onTestFinished(() => void thread.terminate());
    const [{ isRaised, words }] = await once(thread, 'message');
    const expected = [`${getPriority() + (isRaised ? 1 : 4)}`, ...(await processSession())];
    expect(words.split(' ')).toEqual(expected);
  },
);

test('At most as many recognizers run as the machine has cores, and every utterance gets its turn', async () => {
  await recognizerIs('touch running.$$; cat > /dev/null; ls running.* | wc -l; sleep 0.1; rm running.$$');
  const counts = await Promise.all(Array.from({ length: 4 * availableParallelism() }, recognize));
  expect(Math.max(...counts.map(Number))).toBeLessThanOrEqual(availableParallelism());
  expect((await readdir(folder)).filter((name) => name.startsWith('running'))).toEqual([]);
});

test('A recognizer that crashes is replaced, with all that was said', async () => {
  await recognizerIs('if mkdir crashed; then kill -9 $$; fi; cat | wc -c');
  // Between 100 ms of silence; two bytes a sample.
  expect(Number(await recognize())).toBe(2 * (1600 + 1600 + 1600));
});

test('A recognizer that crashes again fails its own utterance alone', async () => {
  await recognizerIs('cat > /dev/null; if test ! -e fixed; then kill -9 $$; fi; echo fixed');
  await expect(recognize()).rejects.toThrow('exited with code 137');
  await writeFile(join(folder, 'fixed'), '');
  expect(await recognize()).toBe('fixed');
});

test('A recognizer dies with its service', async () => {
  await recognizerIs('echo $$ > pid; cat > /dev/null');
  const { service, recognizer } = await startService();
  expect(isRunning(recognizer)).toBe(true);
  service.kill('SIGKILL');
  await expect.poll(() => isRunning(recognizer)).toBe(false);
});

test.each([
  ['Ctrl-C in a terminal', 'SIGINT'],
  ['SIGTERM to all processes', 'SIGTERM'],
])('%s leaves recognition to the service', async (_, signal) => {
  await recognizerIs('echo $$ > pid; cat > /dev/null; echo words');
  const { service } = await startService();
  process.kill(-service.pid, signal);
  await expect.poll(() => service.lines).toEqual(['words']);
});

/** @returns With the process id of its recognizer. */
async function startService() {
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const service = await startChild(process.execPath, ['--import', 'tsx', SERVICE], { env });
  onTestFinished(() => service.kill('SIGKILL'));
  const readPid = () => readFile(join(folder, 'pid'), 'utf8').catch(() => '');
  await expect.poll(readPid).not.toBe('');
  return { service, recognizer: Number(await readPid()) };
}

/** Of this process, where /proc tells it. @see proc_pid_stat(5), setsid(2) */
async function processSession(): Promise<string[]> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => undefined);
  return stat?.split(') ')[1]?.split(' ').slice(3, 4) ?? [];
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
