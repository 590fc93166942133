import type { TestProject } from 'vitest/node';
import { freshConsole } from '../../scripts/lib/consoleBuild.mjs';
import { freshBuild } from '../../scripts/lib/serviceBuild.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Entry file of the service: the current build, or the source when it cannot be built. */
    serviceEntry: string;
  }
}

/** Builds the service and the console for the tests that start it, or threads of it. */
export default async function setUp(project: TestProject): Promise<void> {
  const [entry] = await Promise.all([freshBuild(), freshConsole()]);
  project.provide('serviceEntry', entry ?? 'src/main.ts');
}
