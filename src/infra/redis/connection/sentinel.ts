import { Redis } from 'ioredis';

import { ConfigurationError } from '../../../base/configurationError.ts';
import { type HostPort, parseRedisAddress } from './address.ts';

const TIMEOUT_MILLISECONDS = 2_000;

/**
 * Checks with the Sentinels that the configured master exists. Sentinels that do not answer are ignored: they may be
 * restarting.
 *
 * @throws {ConfigurationError} When Sentinels answer and none of them knows the master.
 */
export async function requireSentinelMaster(url: string): Promise<void> {
  const address = parseRedisAddress(url);
  if (address.kind !== 'sentinel') return;
  const { sentinels, masterName } = address;
  const answers = await Promise.all(sentinels.map((sentinel) => knowsMaster(sentinel, masterName)));
  if (answers.includes(true) || !answers.includes(false)) return;
  const message = `names the master ${masterName}, which its Sentinels do not know`;
  throw new ConfigurationError([{ variable: 'REDIS_URL', message }]);
}

/** @returns Undefined when the Sentinel does not answer. */
async function knowsMaster(sentinel: HostPort, masterName: string): Promise<boolean | undefined> {
  const client = new Redis({
    ...sentinel,
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: TIMEOUT_MILLISECONDS,
    commandTimeout: TIMEOUT_MILLISECONDS,
    // Sentinel does not support the INFO fields that the ready check reads.
    enableReadyCheck: false,
  });
  client.on('error', () => {
    // The command rejects with the same error.
  });
  try {
    return (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)) !== null;
  } catch {
    return undefined; // Unreachable, or it requires a password: the service's own connection reports that and retries.
  } finally {
    client.disconnect();
  }
}
