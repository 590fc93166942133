import { z } from 'zod';
import { trunkHealth } from '../../../calls/trunks/trunk.ts';
import { type TrunkHealthStore, UNKNOWN_HEALTH } from '../../../calls/trunks/trunkHealth.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** The lifetime, longer than two of the longest intervals between two OPTIONS checks. */
const LIFETIME_MILLISECONDS = 2 * 3_600_000 + 600_000;

const seen = trunkHealth.omit({ channelsInUse: true }).extend({ serviceRoute: z.array(z.string()) });

/** Stores health in one key for each trunk, since the trunks of a list are in several slots of a cluster. */
export function redisTrunkHealth(redis: RedisConnection): TrunkHealthStore {
  return {
    async publish(trunkId, health) {
      const text = JSON.stringify(seen.parse(health));
      await orUnavailable(redis.client.set(nameOf(trunkId), text, 'PX', LIFETIME_MILLISECONDS));
    },
    async read(trunkIds) {
      const texts = await Promise.all(trunkIds.map((id) => orUnavailable(redis.client.get(nameOf(id)))));
      return new Map(trunkIds.map((id, index) => [id, readHealth(texts[index] ?? null)]));
    },
  };
}

/** Ignores values that another version wrote in a form that this one does not know. */
function readHealth(text: string | null): typeof UNKNOWN_HEALTH {
  if (text === null) return UNKNOWN_HEALTH;
  return z.safeParse(seen, JSON.parse(text)).data ?? UNKNOWN_HEALTH;
}

const nameOf = (trunkId: string) => `callway:trunk:{${trunkId}}:health`;
