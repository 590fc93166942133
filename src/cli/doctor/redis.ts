import type { RedisFacts } from '../../infra/redis/connection/probe.ts';
import { failureReason } from '../connectionFailure.ts';
import { type Finding, fail, ok, shownAddress } from './finding.ts';
import { compare } from './node.ts';

const NAME = 'Redis';
const MINIMUM_VERSION = '6.2';
const WANTED_POLICY = 'noeviction';

export interface RedisCheckDeps {
  readonly probe: (url: string) => Promise<RedisFacts>;
  /** Version of the `redis-server` on this machine. */
  readonly installed: () => Promise<string | undefined>;
}

/** Checks the Redis server of REDIS_URL, or that a redis-server is installed to be started. */
export async function checkRedis(url: string | undefined, deps: RedisCheckDeps): Promise<Finding> {
  if (url === undefined) return await checkInstalled(deps);
  const shown = shownAddress(url);
  let facts: RedisFacts;
  try {
    facts = await deps.probe(url);
  } catch (error) {
    return fail(
      NAME,
      `${shown} cannot be used (${failureReason(error)})`,
      'Check REDIS_URL, and that the server runs and accepts connections from this machine.',
    );
  }
  if (compare(facts.version, MINIMUM_VERSION) < 0) return tooOld(`${shown} runs ${facts.version}`);
  if (facts.evictionPolicy !== WANTED_POLICY) {
    return fail(
      NAME,
      `${shown} evicts keys when its memory is full (maxmemory-policy ${facts.evictionPolicy || 'unknown'})`,
      `Set maxmemory-policy ${WANTED_POLICY}: queues and locks must not be evicted.`,
    );
  }
  return ok(NAME, `${shown}, version ${facts.version}`);
}

async function checkInstalled({ installed }: RedisCheckDeps): Promise<Finding> {
  const version = await installed();
  if (version === undefined) {
    return fail(
      NAME,
      'REDIS_URL is not set, and redis-server is not installed on this machine',
      'Install it (apt-get install redis-server, brew install redis), or set REDIS_URL.',
    );
  }
  if (compare(version, MINIMUM_VERSION) < 0) return tooOld(`the installed redis-server is ${version}`);
  return ok(NAME, `redis-server ${version}, started by the service`);
}

function tooOld(message: string): Finding {
  return fail(NAME, message, `Upgrade it to ${MINIMUM_VERSION} or later.`);
}
