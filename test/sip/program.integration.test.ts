import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle } from '../../scripts/lib/bundle.mjs';
import { runSipServer } from '../../sip/cli.ts';
import { makeTempDir } from '../support/tempDir.ts';
import { Phone } from './support/phone.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const { path: built, remove } = makeTempDir();
afterAll(remove);

beforeAll(async () => {
  writeFileSync(join(built, 'package.json'), '{ "type": "module" }');
  expect(await bundle(built, PROGRAMS)).toEqual({ ok: true, output: '' });
}, 120_000);

const PROGRAMS = { 'sip/main': 'sip/main.ts', 'sip/embed': 'sip/embed.ts', 'sip/worker': 'sip/worker.ts' };
const fromSource = { args: ['--import', 'tsx'], file: (name: string) => join(root, 'sip', `${name}.ts`) };
const fromBuild = { args: [], file: (name: string) => join(built, 'sip', `${name}.js`) };

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the child has no output');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return String(line);
}

test.each([
  ['its source', fromSource],
  ['what was built', fromBuild],
])('The program runs from %s, responds and ends on a signal', async (_, { args, file }) => {
  const child = spawn(
    process.execPath,
    [...args, file('main'), '--port', '0', '--control-port', '0', '--secret', 'cymru'],
    { cwd: root },
  );
  const exited = once(child, 'exit');
  const line = await firstLine(child);
  const match = /^SIP on udp\/127\.0\.0\.1:(\d+), tcp\/127\.0\.0\.1:\1; applications on port \d+$/.exec(line);
  expect(match, line).not.toBeNull();
  const phone = await Phone.open();
  const port = Number(match?.[1]);
  phone.send(phone.request('OPTIONS', port, { callId: 'alive' }), port);
  expect(await phone.next(/^SIP/)).toMatch(/^SIP\/2\.0 503 /);
  await phone.close();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test.each([
  ['its source', fromSource],
  ['what was built', fromBuild],
])('The embedded server runs from %s', async (_, { args, file }) => {
  const code = `import { startEmbeddedSipServer } from ${JSON.stringify(pathToFileURL(file('embed')).href)};
    const server = await startEmbeddedSipServer({ port: 0, control: { port: 0, secret: 'cymru' } });
    console.log((await server.stats())['now.dialogs']);
    await server.close();`;
  const caller = join(built, `caller-${args.length}.js`);
  writeFileSync(caller, code);
  const { stdout } = await run(process.execPath, [...args, caller], { cwd: root });
  expect(stdout).toBe('0\n');
});

test('The program prints help, and names an invalid argument and a port in use', async () => {
  const said: string[] = [];
  const write = (text: string) => void said.push(text);
  const context = { environment: {}, write, writeError: write };
  const all = () => said.splice(0).join('');
  expect(await runSipServer(['--help'], context)).toBe(0);
  expect(all()).toMatch(/^callway-sip: /);

  expect(await runSipServer(['--secret', 's', '--tls-cert', '/nowhere.pem'], context)).toBe(2);
  expect(all()).toMatch(/^callway-sip: --tls-cert: ENOENT.*\ncallway-sip: a SIP server/);

  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  expect(await runSipServer(['--secret', 's', '--port', String(port)], context)).toBe(1);
  expect(all()).toMatch(new RegExp(`^callway-sip: .*EADDRINUSE.*${port}\n$`));
  other.close();
});
