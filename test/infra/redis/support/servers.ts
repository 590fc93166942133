import { Redis } from 'ioredis';

import { startChild, waitUntilReady } from '../../../support/child.ts';
import { reservePort } from '../../../support/ports.ts';
import { redisDatabase } from '../../../support/redis.ts';
import { makeTempDir } from '../../../support/tempDir.ts';

const READY_TIMEOUT_MS = 15_000;

export interface TestRedis {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  close(): Promise<void>;
}

/** A single server, and a cluster, which rejects scripts whose keys are in different slots. */
export const redisServers = [
  { name: 'a server', open: openServer },
  { name: 'a cluster', open: openCluster },
];

async function openServer(): Promise<TestRedis> {
  const { url, drop } = await redisDatabase();
  return { url, close: drop };
}

/** A cluster with one node that has all slots. */
async function openCluster(): Promise<TestRedis> {
  const folder = makeTempDir();
  const port = await reservePort();
  const busPort = await reservePort();
  const settings = ['--port', port, '--cluster-port', busPort, '--bind', '127.0.0.1', '--dir', folder.path];
  const args = [
    ...settings,
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
    '--save',
    '',
  ].map(String);
  const child = await startChild('redis-server', args, { folder: folder.path });
  const isReady = () => child.lines.some((line) => line.includes('Ready to accept connections'));
  await waitUntilReady('redis-server', child, isReady, READY_TIMEOUT_MS);
  const client = new Redis(port, '127.0.0.1');
  await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  client.disconnect();
  return {
    url: `redis+cluster://127.0.0.1:${port}`,
    async close() {
      child.kill('SIGTERM');
      await child.ended;
      folder.remove();
    },
  };
}
