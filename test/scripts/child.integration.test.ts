import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../support/tempDir.ts';

const child = new URL('../../scripts/lib/child.mjs', import.meta.url).href;

/** Runs `body` as a Node program through `runAttached` and `endAs`, as `npm start` runs the service. */
function runThrough(body: string): ChildProcess {
  const folder = tempDir();
  const service = join(folder, 'service.mjs');
  writeFileSync(service, body);
  const wrapper = `
    import { endAs, runAttached } from ${JSON.stringify(child)};
    endAs(await runAttached(process.execPath, [${JSON.stringify(service)}]));`;
  return spawn(process.execPath, ['--input-type=module', '-e', wrapper], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test.each([0, 1, 7])('exit code %i is passed on', async (code) => {
  const [exitCode] = await once(runThrough(`process.exit(${code})`), 'exit');
  expect(exitCode).toBe(code);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s reaches the service once', async (signal) => {
  const wrapper = runThrough(`
    let received = 0;
    process.on('${signal}', () => {
      received += 1;
      setTimeout(() => process.exit(10 + received), 200);
    });
    setInterval(() => {}, 1000);
    console.log('ready');`);
  if (wrapper.stdout) await once(wrapper.stdout, 'data');
  wrapper.kill(signal);
  setTimeout(() => wrapper.kill(signal), 50); // npm forwards a signal that its whole process group has received
  expect(await once(wrapper, 'exit')).toEqual([11, null]);
});

test('an end by signal is passed on', async () => {
  const ending = await once(runThrough("process.kill(process.pid, 'SIGKILL')"), 'exit');
  expect(ending).toEqual([null, 'SIGKILL']);
});

test('a signal that the service does not handle ends it and its wrapper', async () => {
  const wrapper = runThrough("setInterval(() => {}, 1000); console.log('ready');");
  if (wrapper.stdout) await once(wrapper.stdout, 'data');
  wrapper.kill('SIGTERM');
  expect(await once(wrapper, 'exit')).toEqual([null, 'SIGTERM']);
});
