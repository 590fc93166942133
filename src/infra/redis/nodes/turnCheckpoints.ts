import { z } from 'zod';

import type { TurnCheckpointStore } from '../../../engine/session/interruptedTurn.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** The lifetime, longer than it takes to end the calls of a lost node. */
const LIFETIME_MS = 10 * 60_000;

const schema = z.object({
  turn: z.number(),
  at: z.string(),
  nodeId: z.string().nullable(),
  said: z.string(),
  heard: z.string(),
  speech: z.object({ recognition: z.string().optional(), synthesis: z.string().optional() }).optional(),
});

/** Turn checkpoints. Their age comes from the remaining lifetime of the key, since the clocks of nodes differ. */
export function redisTurnCheckpoints(redis: RedisConnection): TurnCheckpointStore {
  return {
    async put(instanceId, checkpoint) {
      await orUnavailable(redis.client.set(keyOf(instanceId), JSON.stringify(checkpoint), 'PX', LIFETIME_MS));
    },
    async find(instanceId) {
      const key = keyOf(instanceId);
      const [text, leftMs] = await orUnavailable(
        Promise.all([redis.client.get(key), redis.client.pttl(key)]),
      );
      if (text === null) return undefined;
      return { checkpoint: schema.parse(JSON.parse(text)), ageMs: LIFETIME_MS - Math.max(0, leftMs) };
    },
    async drop(instanceId) {
      await orUnavailable(redis.client.del(keyOf(instanceId)));
    },
  };
}

const keyOf = (instanceId: string) => `callway:turn-note:${instanceId}`;
