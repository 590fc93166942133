import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { packagePath } from '../../base/packagePath.ts';
import type { Api } from '../api.ts';

/** The folders beside this file: `agent.json`, and its test suites as `callway test pull` writes them. */
export const DEMO_AGENTS = ['restaurant', 'clinic', 'order-line'] as const;
export type DemoAgentName = (typeof DEMO_AGENTS)[number];

const node = z.looseObject({ data: z.looseObject({ tools: z.array(z.string()).optional() }) });

/** Bodies of the API; nodes name tools by their names, since ids are those of a project. */
const demoAgent = z.strictObject({
  agent: z.record(z.string(), z.unknown()),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  pathway: z.strictObject({ nodes: z.array(node), edges: z.array(z.unknown()) }),
});

export type DemoAgent = z.output<typeof demoAgent>;

const made = z.object({ id: z.string() });

export function agentFolder(name: DemoAgentName): string {
  return packagePath(join('src', 'demo', 'agents', name));
}

export async function readDemoAgent(name: DemoAgentName): Promise<DemoAgent> {
  return demoAgent.parse(JSON.parse(await readFile(join(agentFolder(name), 'agent.json'), 'utf8')));
}

/** Sets up a project's agent. @param path - The agent of the project. */
export async function setUpAgent(
  api: Api,
  path: string,
  { agent, tools, pathway }: DemoAgent,
): Promise<void> {
  const ids = new Map<string, string>();
  for (const tool of tools) ids.set(tool.name, (await api.request('POST', `${path}/tools`, made, tool)).id);
  const nodes = pathway.nodes.map(({ data, ...rest }) => ({
    ...rest,
    data: { ...data, tools: data.tools?.map((name) => ids.get(name) ?? name) },
  }));
  await api.request('PUT', `${path}/pathway`, z.unknown(), { ...pathway, nodes });
  await api.request('PATCH', `${path}/agent`, z.unknown(), { ...agent, status: 'published' });
}
