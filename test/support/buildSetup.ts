import type { TestProject } from 'vitest/node';
import { freshConsole } from '../../scripts/lib/consoleBuild.mjs';
import { freshBuild } from '../../scripts/lib/serviceBuild.mjs';

/** Runs without a build. */
const SOURCE_ENTRY = 'src/main.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Entry file of the service: the current build, or the source when it cannot be built. */
    serviceEntry: string;
  }
}

/** Builds the service and the console for the tests that start it, or threads of it; not with CALLWAY_TEST_SOURCES. */
export default async function setUp(project: TestProject): Promise<void> {
  if (process.env.CALLWAY_TEST_SOURCES !== undefined) {
    project.provide('serviceEntry', SOURCE_ENTRY);
    return;
  }
  const [entry] = await Promise.all([freshBuild(), freshConsole()]);
  project.provide('serviceEntry', entry ?? SOURCE_ENTRY);
}
