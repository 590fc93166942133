import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureConsoleDependencies } from '../lib/consoleBuild.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';

/** Writes the types of the console's API client from the OpenAPI document. */
export async function run() {
  await Promise.all([ensureDependencies(), ensureConsoleDependencies()]);
  await writeConsoleTypes();
}

/** Writes console/src/api/schema.d.ts, which is not kept: types are checked, and never part of the console's build. */
export async function writeConsoleTypes() {
  const { register } = await import('tsx/esm/api');
  register();
  const { startTestServer } = await import(at('test', 'support', 'httpServer.ts'));
  const packages = ['console', 'node_modules', 'openapi-typescript', 'dist', 'index.mjs'];
  const { default: typesOf, astToString } = await import(at(...packages));
  // Its routes are documented where audio streams are served; no request reaches them.
  const server = await startTestServer({ mediaStreams: {} });
  try {
    const { body } = await server.send('GET', '/openapi.json', { key: null });
    const header = '// From the OpenAPI document, by npm run check.\n\n';
    writeFileSync(
      join(root, 'console', 'src', 'api', 'schema.d.ts'),
      header + astToString(await typesOf(body, { defaultNonNullable: false })),
    );
  } finally {
    await server.close();
  }
}

/** @param {string[]} path */
const at = (...path) => pathToFileURL(join(root, ...path)).href;
