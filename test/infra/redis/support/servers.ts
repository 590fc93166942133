import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';

import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { startChild, waitUntilReady } from '../../../support/child.ts';
import { reservePort } from '../../../support/ports.ts';
import { makeTempDir } from '../../../support/tempDir.ts';

const READY_TIMEOUT_MS = 15_000;

interface Cluster {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A cluster and the connections of two nodes, for the tests of one `describe`. It takes no script whose keys are in
 * different slots; a single server, which other tests have, takes all that a cluster does.
 */
export function useCluster() {
  let cluster: Cluster;
  let nodes: readonly [here: RedisConnection, there: RedisConnection];
  beforeAll(async () => {
    cluster = await openCluster();
    const connect = () => connectRedis({ url: cluster.url, onError: () => undefined });
    nodes = [connect(), connect()];
    await Promise.all(nodes.map((node) => node.untilReady()));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await cluster.close();
  });
  return {
    get url() {
      return cluster.url;
    },
    get nodes() {
      return nodes;
    },
  };
}

async function openCluster(): Promise<Cluster> {
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
