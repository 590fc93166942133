import { join } from 'node:path';

import { type BenchProject, createProject, ONE_STEP } from '../chat/project.ts';
import { type Server, type ServerOptions, startServer } from '../chat/servers.ts';
import type { Stores } from '../chat/stores.ts';
import { type Phones, startPhones } from './phones.ts';

/** The API first, since calls are requested from it. */
const ROLES = ['api', 'worker', 'voice', 'media'] as const;
export const FROM_NUMBER = '+886223456789';
const CUTS_INTO_EACH = 3;

/** A process of the product; the role is empty when it has all. */
export interface ProductNode {
  readonly role: string;
  readonly server: Server;
}

/** The product with everything that it talks to. */
export interface Installation {
  readonly api: Server;
  readonly nodes: readonly ProductNode[];
  readonly models: Server;
  readonly phones: Phones;
  readonly project: BenchProject;
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly program: string;
  readonly stores: Stores;
  /** What the phones say, in µ-law. */
  readonly utterance: Uint8Array;
  /** One process per role. */
  readonly hasRoles: boolean;
  readonly profileFolder: string | undefined;
}

export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const { program, stores, utterance, hasRoles, profileFolder } = options;
  const servers: Server[] = [];
  const phones = await startPhones({ utterance, cutsIntoEach: CUTS_INTO_EACH });
  const start = async (name: Server['name'], given: Partial<ServerOptions> = {}) => {
    const server = await startServer(name, { program, ...given });
    servers.push(server);
    return server;
  };
  const startNode = async (upstreamUrl: string, role: string): Promise<ProductNode> => {
    const environment = { ...stores.environment, ROLES: role };
    const profiling = profileFolder === undefined ? {} : { profileFolder: join(profileFolder, role) };
    return { role, server: await start('product', { upstreamUrl, environment, ...profiling }) };
  };
  const close = async () => {
    await phones.close();
    for (const server of servers.reverse()) await server.close();
  };
  try {
    const models = await start('speakingUpstream');
    const [firstRole, ...otherRoles] = hasRoles ? ROLES : [''];
    const first = await startNode(models.url, firstRole ?? '');
    const nodes = [first];
    for (const role of otherRoles) nodes.push(await startNode(models.url, role));
    const project = await createProject(first.server.url, { executionMode: 'balance' }, ONE_STEP);
    const trunk = { name: 'Phones', host: '127.0.0.1', port: phones.sipPort, optionsIntervalSeconds: 0 };
    await project.call('POST', '/trunks', { ...trunk, maxChannels: 1000, callsPerSecond: 1000 });
    await project.call('POST', '/phone-numbers', { number: FROM_NUMBER });
    return { api: first.server, nodes, models, phones, project, close };
  } catch (error) {
    await close();
    throw error;
  }
}
