import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { runCli } from '../cli/program.ts';
import { agentFolder, type DemoAgentName, readDemoAgent, setUpAgent } from './agents/demoAgent.ts';
import { DemoError } from './demoError.ts';
import type { Screen } from './screen.ts';
import { createProject } from './setUp.ts';

export interface AgentTestDeps {
  readonly baseUrl: string;
  readonly adminToken: string;
  /** The folder for a copy of the suite, which gets the project's ids. */
  readonly folder: string;
  readonly screen: Screen;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a suite of a demo agent by the commands of a pipeline, `callway test push` and `callway test run`.
 *
 * @param suite - Name of its file.
 * @throws {DemoError} When a case does not pass.
 */
export async function testAgent(
  name: DemoAgentName,
  suite: 'suite' | 'phone',
  { baseUrl, adminToken, folder, screen, write, signal }: AgentTestDeps,
): Promise<void> {
  const project = await createProject({ baseUrl, adminToken, name, signal });
  await setUpAgent(project.api, project.path, await readDemoAgent(name));
  screen.step('agent', join(agentFolder(name), 'agent.json'));
  const file = join(agentFolder(name), `${suite}.yaml`);
  const { name: suiteName } = z.object({ name: z.string() }).parse(parse(await readFile(file, 'utf8')));
  const suites = join(folder, 'callway-tests');
  await mkdir(suites, { recursive: true });
  await copyFile(file, join(suites, `${suite}.yaml`));
  screen.step('suite', file);
  const environment = { CALLWAY_URL: baseUrl, CALLWAY_PROJECT: project.id, CALLWAY_KEY: project.key };
  const callway = async (...args: string[]) => {
    signal.throwIfAborted();
    return await runCli(['test', ...args], { environment, fetch, write, writeError: write });
  };
  screen.title(`callway test run ${JSON.stringify(suiteName)}`);
  if ((await callway('push', '--dir', suites, suiteName)) !== 0)
    throw new DemoError('The suite was not stored.');
  if ((await callway('run', suiteName)) !== 0) throw new DemoError('Not every case passed.');
}
