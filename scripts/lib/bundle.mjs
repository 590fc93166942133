import { root } from './paths.mjs';

/**
 * The programs, and the threads that they start, by where they go in dist/. Threads lie beside the code that starts
 * them, whichever file that came to be in: all but two programs are in one folder.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const ENTRIES = {
  'src/main': 'src/main.ts',
  'src/cli/main': 'src/cli/main.ts',
  'src/demo': 'src/demo/main.ts',
  'sip/main': 'sip/main.ts',
  'src/mediaThread': 'src/app/mediaThread.ts',
  'src/simulatorThread': 'src/app/simulatorThread.ts',
  'src/fliteThread': 'offline/synthesis/fliteThread.ts',
  'src/sentenceEncoderThread': 'offline/sentenceEncoderThread.ts',
  'src/parseThread': 'src/knowledge/ingest/parseThread.ts',
  'src/worker': 'sip/worker.ts',
};

/** Packages that stay as npm installed them. */
const LEFT_AS_THEY_ARE = [
  // They bring files beside their code: WebAssembly, models, web pages, threads of their own.
  '@echogarden/*',
  '@electric-sql/*',
  '@energetic-ai/*',
  '@evan/opus',
  '@fastify/swagger-ui',
  'pdf-parse',
  // Large, and no start waits for them.
  '@aws-sdk/*',
  'mammoth',
  'read-excel-file',
];

/** For what packages of the older kind ask for as they are loaded: Node's own modules, and packages left as they are. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

/**
 * Makes few files of the thousands that the service and its packages consist of: finding, reading and linking those
 * was two seconds of each start.
 *
 * Types are not looked at; `npm run check` does that.
 *
 * @param {string} outDir
 * @param {Readonly<Record<string, string>>} [entries] - Others in tests.
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function bundle(outDir, entries = ENTRIES) {
  const { build, formatMessages } = await import('esbuild');
  /** @type {import('esbuild').BuildOptions} */
  const options = {
    absWorkingDir: root,
    entryPoints: { ...entries },
    outdir: outDir,
    chunkNames: 'src/[name]-[hash]',
    external: LEFT_AS_THEY_ARE,
    banner: { js: REQUIRE },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'external',
    logLevel: 'silent',
  };
  try {
    const { warnings } = await build(options);
    return { ok: true, output: await asText(formatMessages, warnings, 'warning') };
  } catch (error) {
    return { ok: false, output: await asText(formatMessages, messagesOf(error), 'error') };
  }
}

/**
 * @param {unknown} error
 * @returns {import('esbuild').Message[]}
 * @throws What went wrong otherwise than in the code that was to be bundled.
 */
function messagesOf(error) {
  if (error instanceof Error && 'errors' in error && Array.isArray(error.errors)) return error.errors;
  throw error;
}

/**
 * @param {typeof import('esbuild').formatMessages} formatMessages
 * @param {import('esbuild').Message[]} messages
 * @param {'error' | 'warning'} kind
 */
async function asText(formatMessages, messages, kind) {
  const color = process.stdout.isTTY;
  return (await formatMessages(messages, { kind, color })).join('');
}
