import { z } from 'zod';

import type { VoiceNode, VoiceNodeRegistry } from '../../../calls/nodes/voiceNodeRegistry.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** One hash slot for all nodes, so that a cluster reads them with one command. */
const IDS = 'callway:{voice-nodes}';

const entry = z.object({
  nodeId: z.string(),
  url: z.url(),
  talks: z.int().min(0),
  isOverloaded: z.boolean().default(false),
});

/** One expiring key for each node, and a set of the node ids. */
export function redisVoiceNodes(redis: RedisConnection): VoiceNodeRegistry {
  const { client } = redis;
  return {
    async register({ sessions: talks, ...node }, leaseMs) {
      const text = JSON.stringify(entry.parse({ ...node, talks }));
      await orUnavailable(
        Promise.all([client.set(keyOf(node.nodeId), text, 'PX', leaseMs), client.sadd(IDS, node.nodeId)]),
      );
    },
    async deregister(nodeId) {
      await orUnavailable(Promise.all([client.del(keyOf(nodeId)), client.srem(IDS, nodeId)]));
    },
    async list() {
      const ids = await orUnavailable(client.smembers(IDS));
      if (ids.length === 0) return [];
      const texts = await orUnavailable(client.mget(ids.map(keyOf)));
      const gone = ids.filter((_, index) => texts[index] === null);
      // A node that comes back is added again by its next heartbeat.
      if (gone.length > 0) await orUnavailable(client.srem(IDS, gone));
      return texts.flatMap(read);
    },
  };
}

/** Ignores values that another version wrote in a form that this one does not know. */
function read(text: string | null): VoiceNode[] {
  if (text === null) return [];
  const parsed = entry.safeParse(JSON.parse(text));
  if (!parsed.success) return [];
  const { talks: sessions, ...node } = parsed.data;
  return [{ ...node, sessions }];
}

const keyOf = (nodeId: string) => `${IDS}:${nodeId}`;
