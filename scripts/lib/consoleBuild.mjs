import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { runCaptured } from './child.mjs';
import { ensureDependencies } from './dependencies.mjs';
import { buildFrom, freshBuildOf } from './freshBuild.mjs';
import { root } from './paths.mjs';

const folder = join(root, 'console');
/** What is worth compressing. The page itself is filled in for each request. */
const COMPRESSED = /\.(js|css|svg|json)$/;
const COMPRESS_FROM_BYTES = 1_000;
/** Of 11: the highest takes ten times as long for a few percent. */
const BROTLI_QUALITY = 9;

const PLAN = {
  folder,
  sources: ['src', 'audio', 'widget', 'public', 'index.html', 'vite.config.ts', 'package-lock.json'],
  entry: 'index.html',
  compile,
};

/** Installs the console's packages, beside those of the service: nothing of them runs in the service. */
export async function ensureConsoleDependencies() {
  await ensureDependencies({ folder });
}

/**
 * Builds the console into console/dist when its sources have changed.
 *
 * @returns {Promise<string | undefined>} Undefined when it cannot be built.
 */
export async function freshConsole() {
  return await freshBuildOf(PLAN);
}

/** Builds the console. */
export async function buildConsole() {
  return await buildFrom(PLAN);
}

/** @type {import('./freshBuild.mjs').Compile} */
async function compile(outDir) {
  const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  const env = { ...process.env, NODE_ENV: 'production' };
  const result = await runCaptured(process.execPath, args, { cwd: folder, env });
  if (result.ok) compressFiles(outDir);
  return result;
}

/** Beside each file its compressed ones, which the service sends as they are. @param {string} outDir */
function compressFiles(outDir) {
  for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !COMPRESSED.test(file)) continue;
    const content = readFileSync(file);
    if (content.length < COMPRESS_FROM_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content));
  }
}
