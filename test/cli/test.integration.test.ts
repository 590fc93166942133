import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../../src/cli/program.ts';
import { suiteJsonSchema } from '../../src/cli/suiteFile.ts';
import { DEMO_AGENTS } from '../../src/demo/agents/demoAgent.ts';
import { testAgent } from '../../src/demo/agentTests.ts';
import type { Screen } from '../../src/demo/screen.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';
import { unused } from '../support/unused.ts';

const gateway = sharedGateway();
let project: TestProject;
let dir: string;
beforeAll(async () => {
  project = await gateway().createProject();
  dir = await mkdtemp(join(tmpdir(), 'callway-suites-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function callway(...args: string[]) {
  let output = '';
  let errors = '';
  const code = await runCli(['test', ...args], {
    environment: {
      CALLWAY_URL: gateway().url,
      CALLWAY_PROJECT: project.id,
      CALLWAY_KEY: project.developerKey,
    },
    fetch,
    write: (text) => {
      output += text;
    },
    writeError: (text) => {
      errors += text;
    },
  });
  return { code, output, errors };
}

test('Suites are written as files, pushed, changed, run and pulled', async () => {
  const file = join(dir, 'before-each-release.yaml');
  expect((await callway('init', '--dir', dir)).code).toBe(0);
  expect((await callway('init', '--dir', dir)).errors).toContain('exists already');

  const written = await readFile(file, 'utf8');
  const pushed = await callway('push', '--dir', dir);
  expect(pushed).toMatchObject({ code: 0, output: 'Pushed Before each release: 1 cases.\n' });
  const withIds = await readFile(file, 'utf8');
  expect(withIds.match(/id: [0-9a-f-]{36}/g)).toHaveLength(2);
  expect(withIds).toMatch(/^# yaml-language-server: .*\n# A suite of test cases\..*\nid: /);

  // As in a fresh checkout, or against another project.
  for (const checkedOut of [written, withIds.replaceAll(/id: [0-9a-f-]{36}/g, `id: ${randomUUID()}`)]) {
    await writeFile(file, checkedOut);
    expect((await callway('push', '--dir', dir)).code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(withIds);
  }

  const junit = join(dir, 'reports', 'junit.xml');
  const html = join(dir, 'report.html');
  const passed = await callway(
    'run',
    'Before each release',
    '--repeat',
    '2',
    '--junit',
    junit,
    '--html',
    html,
    '--baseline',
    'last',
  );
  expect(passed).toMatchObject({
    code: 0,
    output: expect.stringContaining('passed: 1 passed, 0 failed'),
    errors: 'The suite has no earlier run to compare with.\n',
  });
  expect(await readFile(junit, 'utf8')).toContain('tests="2" failures="0"');
  expect(await readFile(html, 'utf8')).toContain('<!doctype html>');

  await writeFile(file, withIds.replace('value: as an AI', 'value: hello'));
  expect((await callway('push', '--dir', dir)).code).toBe(0);
  const failed = await callway('run', 'Before each release', '--baseline', 'last', '--junit', dir);
  expect(failed.errors).toContain(`The report ${dir} cannot be written`);
  expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('1 newly failing') });
  expect(failed.output).toContain('Greets the caller (1): not_said at turn 0: the agent said “hello”');

  const reports = join(dir, 'several.xml');
  const sideBySide = ['--mode', 'smart,turbo', '--model', 'model-x', '--junit', reports];
  const several = await callway('run', 'Before each release', ...sideBySide);
  expect(several).toMatchObject({ code: 1, errors: '' });
  expect(several.output).toMatch(
    /smart model-x +turbo model-x +CASE\nfailed \d+ ms +failed \d+ ms +Greets the caller/,
  );
  expect((await readdir(dir)).filter((name) => name.startsWith('several'))).toEqual([
    'several-smart-model-x.xml',
    'several-turbo-model-x.xml',
  ]);

  await rm(file);
  expect((await callway('pull', '--dir', dir)).code).toBe(0);
  expect((await readdir(dir)).filter((name) => name.endsWith('.yaml'))).toEqual(['before-each-release.yaml']);
  const pulled = await readFile(file, 'utf8');
  expect(pulled).toContain('value: hello');
  const [, schemaFile = ''] = /^# yaml-language-server: \$schema=(.+)\n/.exec(pulled) ?? [];
  const schema = JSON.parse(await readFile(join(dir, schemaFile), 'utf8'));
  const validate = new Ajv2020({ strict: false }).compile(schema);
  expect([validate(parse(pulled)), validate.errors]).toEqual([true, null]);
  expect(validate({ ...parse(pulled), cases: [{ name: 'x', turns: [{ shout: 'Hi' }] }] })).toBe(false);
});

test('The schema of suites in docs/ is the one that the command writes', async () => {
  const file = new URL('../../docs/test-suite.schema.json', import.meta.url);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(suiteJsonSchema);
});

test.each([
  [['run', 'nothing'], 1, 'There is no test suite "nothing"'],
  [['run', 'x', '--repeat', 'many'], 64, 'It must be a whole number'],
  [['push', '--dir', 'nowhere'], 1, 'There is no test suite (*.yaml) in nowhere'],
  [['run', 'x', '--key', 'dk_wrong'], 77, 'refuses this key'],
])('%j is refused', async (args, code, message) => {
  const answer = await callway(...args);

  expect(answer.code).toBe(code);
  expect(answer.errors).toContain(message);
});

test.each(DEMO_AGENTS)('The demo agent %s passes its suite', async (name) => {
  let output = '';
  await testAgent(name, 'suite', {
    baseUrl: gateway().url,
    adminToken: gateway().adminToken,
    folder: join(dir, name),
    screen: unused<Screen>('screen', { title: () => undefined, step: () => undefined }),
    write: (text) => {
      output += text;
    },
    signal: new AbortController().signal,
  }).catch((error: unknown) => {
    throw new Error(output, { cause: error });
  });
  expect(output).toMatch(/passed: \d passed, 0 failed, 0 flaky, 0 errors/);
});
