import { randomBytes } from 'node:crypto';

import { freshBuild } from '../../../../scripts/lib/serviceBuild.mjs';
import { createClient } from '../../../support/gateway.ts';
import { reservePort } from '../../../support/ports.ts';
import { type ServiceProcess, startService } from '../../../support/processes.ts';
import type { Client } from '../../phone/support/line.ts';

/** UDP ports for one node's audio, separate from those of the other nodes. */
const PORTS_PER_NODE = 400;
const FIRST_AUDIO_PORT = 40_000;

export type Role = 'api' | 'worker' | 'voice' | 'media';

/** One node of an installation, across its restarts. */
export interface Node {
  readonly name: string;
  readonly roles: readonly Role[];
  /** The same across restarts. */
  readonly url: string;
  /** Port of its embedded SIP server, for nodes with the media role. */
  readonly sipPort: number;
  readonly process: ServiceProcess;
  /** Restarts the node on the same folder and ports. */
  restart(): Promise<void>;
}

/** Nodes that share a database and a Redis, each in its own process. */
export interface Cluster {
  readonly nodes: readonly Node[];
  /** The first node with this role. */
  node(role: Role): Node;
  /** Sends a request to the first API node. */
  readonly client: Client;
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Settings of all nodes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of media nodes. */
  readonly mediaEnv?: Readonly<Record<string, string>>;
  /** Settings of one node. */
  readonly envOfNode?: (index: number) => Readonly<Record<string, string>>;
  /** Roles of each node. */
  readonly nodes: readonly (readonly Role[])[];
}

/** Starts the built service once per node; the first starts alone and migrates the database. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const entry = await freshBuild();
  if (entry === undefined) throw new Error('the service could not be built');
  const shared = {
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl,
    CALLWAY_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ALLOW_INSECURE_WEBHOOKS: 'true',
    STT_PROVIDER: 'local',
    TTS_PROVIDER: 'local',
    MEDIA_WORKERS: '1',
    RATE_LIMIT_PER_MINUTE: '100000',
    ...options.env,
  };
  const nodes: Node[] = [];
  const close = async () => {
    await Promise.all(nodes.map((node) => node.process.close()));
  };
  const begin = async (roles: readonly Role[], index: number) => {
    const firstPort = FIRST_AUDIO_PORT + index * PORTS_PER_NODE;
    const carries = roles.includes('media');
    const audio = {
      RTP_PORT_MIN: String(firstPort),
      RTP_PORT_MAX: String(firstPort + PORTS_PER_NODE - 1),
      ...options.mediaEnv,
    };
    const own = options.envOfNode?.(index);
    const env = { ...shared, ROLES: roles.join(','), ...(carries ? audio : {}), ...own };
    nodes.push(await startNode(`${roles.join('+')} ${index + 1}`, roles, entry, env));
  };
  try {
    const [first = [], ...others] = options.nodes;
    await begin(first, 0);
    await Promise.all(others.map((roles, index) => begin(roles, index + 1)));
  } catch (error) {
    await close();
    throw error;
  }
  const node = (role: Role) => {
    const found = nodes.find(({ roles }) => roles.includes(role));
    if (!found) throw new Error(`no node has the role ${role}`);
    return found;
  };
  const client = await createClient(node('api').url, shared.CALLWAY_ADMIN_TOKEN);
  return { nodes, node, client, close };
}

async function startNode(
  name: string,
  roles: readonly Role[],
  entry: string,
  env: Readonly<Record<string, string>>,
): Promise<Node> {
  const [port, sipPort] = await Promise.all([reservePort(), reservePort()]);
  const settings = { ...env, PORT: String(port), SIP_PORT: String(sipPort) };
  const live = (dataDir?: string) =>
    startService({
      env: settings,
      entry,
      ...(dataDir === undefined ? {} : { dataDir }),
    });
  const first = await live();
  let running = first;
  return {
    name,
    roles,
    url: first.url,
    sipPort,
    get process() {
      return running;
    },
    async restart() {
      running = await live(first.dataDir);
    },
  };
}
