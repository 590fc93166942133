import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeTempDir } from './support/tempDir.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RULES = '.dependency-cruiser.mjs';
const TIMEOUT = 60_000;

interface Report {
  readonly modules: readonly { source: string; dependencies: readonly unknown[] }[];
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly { from: string; to: string; rule: { name: string; severity: string } }[];
  };
}

/** Runs dependency-cruiser on a folder as `npm run check` does. */
async function cruise(folder: string, output: 'json' | 'err') {
  const program = join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const args = [program, 'src', 'sip', 'offline', '--config', RULES, '--output-type', output];
  return await new Promise<{ ok: boolean; text: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (error, text) =>
      resolve({ ok: error === null, text }),
    );
  });
}

/** Makes a tree of the given files under the rules of this repository. */
function plant(folder: string, files: Readonly<Record<string, string>>): void {
  for (const name of [RULES, 'tsconfig.json', 'package.json'])
    copyFileSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Valid imports, and what the invalid ones import. */
const SOUND = {
  'src/base/values/ids.ts': 'export const makeId = () => "1";\n',
  'src/api/server.ts':
    'import Fastify from "fastify";\nimport { makeId } from "../base/values/ids.ts";\nexport const app = [Fastify, makeId];\n',
  'src/infra/redis/lock.ts': 'export const lock = 1;\n',
  'src/infra/postgres/sql/rows.ts': 'export const rows = 1;\n',
  'src/vendors/openai/chat.ts': 'export const chat = 1;\n',
  'sip/server.ts': 'export const port = 5060;\n',
  'sip/message/uri.ts': 'export const uri = 1;\n',
  'sip/transport/udp.ts': 'export const udp = 1;\n',
  'src/telephony/leg.ts': 'export { uri } from "../../sip/message/uri.ts";\n',
  'offline/model.ts': 'export const model = 1;\n',
};

/** The other ends of the circles: each circle is reported once. */
const CIRCLES = {
  'src/base/two.ts': 'import { one } from "./one.ts";\nexport const two = () => one;\n',
  'src/base/typeTwo.ts': 'import type { One } from "./typeOne.ts";\nexport type Two = One[];\n',
};

/** Rule, what it refuses, and a file that breaks it. */
const REFUSED: [string, string, string, string][] = [
  [
    'no-circular',
    'two files that import each other',
    'src/base/one.ts',
    'import { two } from "./two.ts";\nexport const one = () => two;\n',
  ],
  [
    'no-circular',
    'a circle of types alone',
    'src/base/typeOne.ts',
    'import type { Two } from "./typeTwo.ts";\nexport type One = Two[];\n',
  ],
  [
    'layer-base',
    'a room that imports from a layer above',
    'src/base/above.ts',
    'export { app } from "../api/server.ts";\n',
  ],
  [
    'layer-webhooks',
    'a domain room that imports an edge',
    'src/webhooks/edge.ts',
    'export { lock } from "../infra/redis/lock.ts";\n',
  ],
  [
    'layer-api',
    'an edge that imports another edge',
    'src/api/edge.ts',
    'import type { rows } from "../infra/postgres/sql/rows.ts";\nexport type Rows = typeof rows;\n',
  ],
  [
    'layer-engine',
    'a domain room that imports a vendor',
    'src/engine/vendor.ts',
    'export { chat } from "../vendors/openai/chat.ts";\n',
  ],
  [
    'sip-stands-alone',
    'the SIP library importing the gateway’s rooms',
    'sip/room.ts',
    'export { makeId } from "../src/base/values/ids.ts";\n',
  ],
  [
    'telephony-shares-only-the-sip-parser',
    'telephony importing more of the SIP library than its parser',
    'src/telephony/server.ts',
    'export { port } from "../../sip/server.ts";\n',
  ],
  [
    'sip-is-started-by-app',
    'another room importing the SIP parser',
    'src/api/parser.ts',
    'export { uri } from "../../sip/message/uri.ts";\n',
  ],
  [
    'sip-layer-message',
    'a SIP layer importing a higher one',
    'sip/message/above.ts',
    'export { udp } from "../transport/udp.ts";\n',
  ],
  [
    'offline-stands-alone',
    'an offline model importing the gateway’s rooms',
    'offline/room.ts',
    'export { makeId } from "../src/base/values/ids.ts";\n',
  ],
  [
    'offline-is-adapted-by-its-provider',
    'an offline model imported past its provider',
    'src/agents/model.ts',
    'export { model } from "../../offline/model.ts";\n',
  ],
  [
    'sql-only-in-its-room',
    'a driver outside its room',
    'src/infra/redis/driver.ts',
    'export { default as pg } from "pg";\n',
  ],
  ['no-unresolvable', 'a file that is not there', 'src/base/absent.ts', 'export * from "./nowhere.ts";\n'],
  ['no-dev-dependency', 'a tool of development', 'src/base/tool.ts', 'export * from "fast-check";\n'],
];

describe('a tree that breaks every rule', () => {
  const { path, remove } = makeTempDir();
  let broken: { ok: boolean; text: string };
  let errors: string[];
  beforeAll(async () => {
    const wrong = Object.fromEntries(REFUSED.map(([, , file, text]) => [file, text]));
    plant(path, { ...SOUND, ...CIRCLES, ...wrong });
    broken = await cruise(path, 'err');
    errors = stripVTControlCharacters(broken.text).match(/error .+/g) ?? [];
  }, TIMEOUT);
  afterAll(remove);

  test('fails', () => expect(broken.ok).toBe(false));

  test.each(REFUSED)('is reported by %s for %s', (rule, _, file) => {
    expect(errors).toContainEqual(expect.stringMatching(`^error ${rule}: .*${file}`));
  });

  test('is not reported for its files that follow the rules', () => {
    const reported = errors.flatMap((error) => error.match(/: (\S+)/)?.[1] ?? []);
    expect(Object.keys(SOUND).filter((file) => reported.includes(file))).toEqual([]);
  });
});

test('reads every file of this repository with its imports, and finds no violation', {
  timeout: TIMEOUT,
}, async () => {
  const { modules, summary } = JSON.parse((await cruise(ROOT, 'json')).text) as Report;
  const own = modules.filter(({ source }) => /^(src|sip|offline)\//.test(source));
  const files = ['src', 'sip', 'offline'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );

  expect(own.map(({ source }) => source).sort()).toEqual(files.sort());
  const imports = own.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
  expect(imports).toBeGreaterThan(2 * files.length);
  expect(summary.violations).toEqual([]);
});
