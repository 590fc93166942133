import { join } from 'node:path';
import { root } from './paths.mjs';

/**
 * The programs, child processes and worker threads, by their path in dist/. A thread is beside the code that starts it: all but two
 * programs are bundled into one folder.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const ENTRIES = {
  'src/main': 'src/main.ts',
  'src/cli/main': 'src/cli/main.ts',
  'src/demo': 'src/demo/main.ts',
  'sip/main': 'sip/main.ts',
  'src/mediaThread': 'src/app/media/mediaThread.ts',
  'src/recordingThread': 'src/app/media/recordingThread.ts',
  'src/voiceThread': 'src/app/voice/voiceThread.ts',
  'src/simulatorThread': 'src/app/simulator/simulatorThread.ts',
  'src/fliteThread': 'src/vendors/local/fliteThread.ts',
  'src/recognizerHostProcess': 'offline/recognition/recognizerHostProcess.ts',
  'src/sentenceEncoderThread': 'src/vendors/local/sentenceEncoderThread.ts',
  'src/checkThread': 'src/infra/sandbox/checkThread.ts',
  'src/pgliteThread': 'src/infra/postgres/embedded/pgliteThread.ts',
  'src/parserHostProcess': 'src/knowledge/ingest/parserHostProcess.ts',
  'src/parserProcess': 'src/knowledge/ingest/parserProcess.ts',
  'src/worker': 'sip/worker.ts',
};

/** Packages that are not bundled. */
const LEFT_AS_THEY_ARE = [
  // They load files beside their code: WebAssembly, models, web pages, worker threads.
  '@echogarden/*',
  '@electric-sql/*',
  '@energetic-ai/*',
  '@evan/opus',
  '@fastify/swagger-ui',
  'pdfjs-dist',
  // Large, and not needed at startup.
  '@aws-sdk/*',
];

/** For CommonJS packages: `require` for Node's modules and unbundled packages. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

/**
 * Bundles the thousands of files of the service and its packages into a few: finding, reading and linking them took
 * two seconds of each start.
 *
 * Does not check types; `npm run check` does.
 *
 * @param {string} outDir
 * @param {Readonly<Record<string, string>>} [entries] - Replaced in tests.
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function bundle(outDir, entries = ENTRIES) {
  const { build, formatMessages, stop } = await import('esbuild');
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
    if (entries === ENTRIES) await build(widgetOptions(outDir));
    return { ok: true, output: await asText(formatMessages, warnings, 'warning') };
  } catch (error) {
    return { ok: false, output: await asText(formatMessages, messagesOf(error), 'error') };
  } finally {
    // Its process holds hundreds of megabytes, and would run as long as the service that is started now.
    await stop();
  }
}

/**
 * The script that web pages load, and its audio thread: for browsers, each in one file.
 *
 * @param {string} outDir
 * @returns {import('esbuild').BuildOptions}
 */
function widgetOptions(outDir) {
  return {
    absWorkingDir: root,
    entryPoints: { widget: 'console/widget/widget.ts', processor: 'console/audio/processor.ts' },
    outdir: join(outDir, 'widget'),
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    legalComments: 'none',
    logLevel: 'silent',
  };
}

/**
 * @param {unknown} error
 * @returns {import('esbuild').Message[]}
 * @throws Errors that are not in the bundled code.
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
