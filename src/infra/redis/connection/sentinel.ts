import { Redis } from 'ioredis';

import { ConfigurationError } from '../../../base/configurationError.ts';
import { type HostPort, parseRedisAddress } from './address.ts';

const TIMEOUT_MILLISECONDS = 2_000;

/**
 * Asks the Sentinels of an address for its master. Those that do not answer may be away for a moment; those that answer
 * and know of no such master would never do better.
 *
 * @throws {ConfigurationError} When none of those that answer knows the master.
 */
export async function requireSentinelMaster(url: string): Promise<void> {
  const address = parseRedisAddress(url);
  if (address.kind !== 'sentinel') return;
  const { sentinels, masterName } = address;
  const answers = await Promise.all(sentinels.map((sentinel) => knows(sentinel, masterName)));
  if (answers.includes(true) || !answers.includes(false)) return;
  const message = `names the master ${masterName}, which its Sentinels do not know`;
  throw new ConfigurationError([{ variable: 'REDIS_URL', message }]);
}

/** @returns `undefined` when the Sentinel does not answer. */
async function knows(sentinel: HostPort, masterName: string): Promise<boolean | undefined> {
  const client = new Redis({
    ...sentinel,
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: TIMEOUT_MILLISECONDS,
    commandTimeout: TIMEOUT_MILLISECONDS,
    // A Sentinel knows no INFO of a server that loads its data.
    enableReadyCheck: false,
  });
  client.on('error', () => {
    // The command tells.
  });
  try {
    return (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)) !== null;
  } catch {
    return undefined; // away, or not to be asked without a password: connecting for good says why, and goes on trying
  } finally {
    client.disconnect();
  }
}
