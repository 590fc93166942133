import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { mutantsOf, sampleOf } from '../lib/mutants.mjs';
import { root } from '../lib/paths.mjs';
import { Stop } from '../lib/stop.mjs';
import { runUnitTests } from '../lib/unitTestRun.mjs';

/** About five minutes for tests of two seconds. */
const DEFAULT_MAX = 100;
/** A mutant that makes a loop endless is known by the time it takes. */
const SLOWDOWN = 4;
const SHORTEST_TIMEOUT_MS = 20_000;
const NOT_COPIED = new Set(['node_modules', 'dist', 'data', '.git']);
const USAGE = 'Usage: npm run mutate -- ROOM [--max N] [TEST...], such as sip/transaction or media/jitter.';

/**
 * Tries mutants of a room, each in a copy of the project, and prints which of them its unit tests do not notice.
 *
 * @param {string[]} args - The room, how many mutants to try at most, and more test files.
 * @throws {Stop} When the room does not exist, or its tests fail without a mutant.
 */
export async function run(args) {
  const { room, max, moreTests } = readArguments(args);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  await ensureDependencies();
  const folder = folderOf(room);
  const tests = [`${testPathOf(folder)}/`, ...moreTests];
  const all = sourcesIn(folder).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return mutantsOf(source).map((mutant) => ({ ...mutant, file, source }));
  });
  const mutants = sampleOf(all, max);
  const copy = copyProject();
  process.once('exit', () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }));
  const startedMs = performance.now();
  if ((await runUnitTests(copy, tests, Number.POSITIVE_INFINITY)) !== 'passed')
    throw new Stop(`The unit tests in ${tests.join(' ')} fail without a mutant, or there are none.`);
  const runMs = performance.now() - startedMs;
  console.log(
    `${folder}: trying ${mutants.length} of ${all.length} mutants, ${(runMs / 1000).toFixed(1)} s each`,
  );
  const counts = { passed: 0, failed: 0, 'timed out': 0 };
  for (const { file, source, line, what, text } of mutants) {
    writeFileSync(join(copy, file), text);
    const timeoutMs = Math.max(SHORTEST_TIMEOUT_MS, SLOWDOWN * runMs);
    const likeliest = likeliestTests(file, folder);
    const first = likeliest === undefined ? 'passed' : await runUnitTests(copy, [likeliest], timeoutMs);
    const outcome = first === 'passed' ? await runUnitTests(copy, tests, timeoutMs) : first;
    writeFileSync(join(copy, file), source);
    counts[outcome] += 1;
    if (outcome === 'passed') console.log(`survived  ${file}:${line}  ${what}`);
  }
  const killed = mutants.length - counts.passed;
  const share = mutants.length === 0 ? 100 : Math.round((100 * killed) / mutants.length);
  console.log(
    `${killed} of ${mutants.length} mutants killed (${share} %), ${counts['timed out']} by timeout`,
  );
}

/** @param {string[]} args */
function readArguments(args) {
  const { values, positionals } = parsed(args);
  const [room = '', ...moreTests] = positionals;
  const max = Number(values.max);
  if (room === '' || !Number.isInteger(max) || max < 1) throw new Stop(USAGE);
  return { room, max, moreTests };
}

/** @param {string[]} args */
function parsed(args) {
  try {
    const max = { type: /** @type {const} */ ('string'), default: String(DEFAULT_MAX) };
    return parseArgs({ args, allowPositionals: true, options: { max } });
  } catch (error) {
    throw new Stop(`${error instanceof Error ? error.message : error}. ${USAGE}`);
  }
}

/**
 * @param {string} room - `sip/dialog`, `calls`, or the end of a folder's path: `accounts`.
 * @returns {string} Its folder.
 */
function folderOf(room) {
  const direct = [room, `src/${room}`].find(
    (folder) => /^(?:src|sip|offline)\//.test(folder) && isFolder(folder),
  );
  if (direct) return direct;
  const found = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith(`/${room}`) && isFolder(path));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Stop(
      `${found.length === 0 ? 'No room' : `${found.join(', ')}: more than one room`} is named "${room}". ${USAGE}`,
    );
  return only;
}

/** @param {string} path - Of a source, or a folder of them. */
function testPathOf(path) {
  return `test/${path.replace(/^src\//, '').replace(/\.ts$/, '')}`;
}

/**
 * Most mutants of a file are noticed by the tests beside its own, which take a part of the room's time.
 *
 * @param {string} file
 * @param {string} folder - The room's.
 * @returns {string | undefined} Undefined where no tests are closer to the file than the room's.
 */
function likeliestTests(file, folder) {
  const own = testPathOf(file);
  const beside = dirname(own);
  if (dirname(file) !== folder && hasUnitTests(beside)) return `${beside}/`;
  return existsSync(join(root, `${own}.test.ts`)) ? `${own}.test.ts` : undefined;
}

/** @param {string} folder */
function hasUnitTests(folder) {
  return (
    existsSync(join(root, folder)) &&
    readdirSync(join(root, folder)).some((name) => /^[^.]+\.test\.ts$/.test(name))
  );
}

/** @param {string} path */
function isFolder(path) {
  return existsSync(join(root, path)) && !path.endsWith('.ts');
}

/** @param {string} folder */
function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** A copy in which the mutants are written, with this project's dependencies. */
function copyProject() {
  const copy = mkdtempSync(join(tmpdir(), 'callway-mutants-'));
  const filter = (/** @type {string} */ path) => !NOT_COPIED.has(relative(root, path));
  cpSync(root, copy, { recursive: true, filter });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  return copy;
}
