import { join } from 'node:path';

import { type BenchProject, createProject, ONE_STEP } from '../chat/project.ts';
import { type Server, type ServerOptions, startServer } from '../chat/servers.ts';
import type { Stores } from '../chat/stores.ts';
import type { CallerBehaviour } from './caller.ts';
import { type Phones, startPhones } from './phones.ts';

/** The API first, since calls are requested from it. */
const ROLES = ['api', 'worker', 'voice', 'media'] as const;
const FIRST_NUMBER = 886_223_450_000;
/** Installations on the same stores; a number belongs to one of their projects. */
let installations = 0;
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
  /** Empty where the product runs its own. */
  readonly redisUrl: string;
  /** The number that calls are from. */
  readonly fromNumber: string;
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly program: string;
  readonly stores: Stores;
  /** What the phones say, in µ-law. */
  readonly utterance: Uint8Array;
  /** What they do; by default they talk, and interrupt each third answer. */
  readonly caller?: CallerBehaviour;
  /** By default one node that converses. */
  readonly pathway?: object;
  /** Refuses calls beyond its capacity, as in production. */
  readonly refusesOverload?: boolean;
  /** One process per role. */
  readonly hasRoles: boolean;
  readonly profileFolder: string | undefined;
  /** Speech comes from streaming vendors, not from an OpenAI-compatible endpoint. */
  readonly hasStreamingVendors?: boolean;
}

export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const { program, stores, utterance, hasRoles, profileFolder, hasStreamingVendors = false } = options;
  const { pathway = ONE_STEP, refusesOverload = false } = options;
  const servers: Server[] = [];
  installations += 1;
  const fromNumber = `+${FIRST_NUMBER + installations}`;
  const phones = await startPhones(options.caller ?? { utterance, cutsIntoEach: CUTS_INTO_EACH });
  const start = async (name: Server['name'], given: Partial<ServerOptions> = {}) => {
    const server = await startServer(name, { program, ...given });
    servers.push(server);
    return server;
  };
  const startNode = async (upstreamUrl: string, role: string): Promise<ProductNode> => {
    const vendors = hasStreamingVendors ? streamingSpeech(upstreamUrl) : {};
    const overload = { REFUSES_OVERLOAD: refusesOverload ? 'true' : '' };
    const environment = { ...stores.environment, ...vendors, ...overload, ROLES: role };
    const profiling = profileFolder === undefined ? {} : { profileFolder: join(profileFolder, role) };
    return { role, server: await start('product', { upstreamUrl, environment, ...profiling }) };
  };
  const close = async () => {
    await phones.close();
    for (const server of servers.reverse()) await server.close();
  };
  try {
    const models = await start(hasStreamingVendors ? 'speechVendors' : 'speakingUpstream');
    const [firstRole, ...otherRoles] = hasRoles ? ROLES : [''];
    const first = await startNode(models.url, firstRole ?? '');
    const nodes = [first];
    for (const role of otherRoles) nodes.push(await startNode(models.url, role));
    const project = await createProject(first.server.url, { executionMode: 'balance' }, pathway);
    const trunk = { name: 'Phones', host: '127.0.0.1', port: phones.sipPort, optionsIntervalSeconds: 0 };
    await project.call('POST', '/trunks', { ...trunk, maxChannels: 1000, callsPerSecond: 1000 });
    await project.call('POST', '/phone-numbers', { number: fromNumber });
    const redisUrl = stores.environment.REDIS_URL;
    return { api: first.server, nodes, models, phones, project, redisUrl, fromNumber, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function streamingSpeech(url: string): Record<string, string> {
  return {
    STT_PROVIDER: 'custom',
    TTS_PROVIDER: 'custom',
    CUSTOM_STT_BASE_URL: url,
    CUSTOM_TTS_BASE_URL: url,
  };
}
