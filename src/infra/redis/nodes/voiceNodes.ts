import { z } from 'zod';

import type { VoiceNode, VoiceNodeRegistry } from '../../../calls/nodes/voiceNodeRegistry.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** All in one hash slot, so that they are read at once on Redis Cluster too. */
const IDS = 'callway:{voice-nodes}';

const entry = z.object({ nodeId: z.string(), url: z.url(), talks: z.int().min(0) });

/** A key a node, which runs out when the node no longer says that it lives, and a set of the keys there may be. */
export function redisVoiceNodes(redis: RedisConnection): VoiceNodeRegistry {
  const { client } = redis;
  return {
    async register(node, leaseMs) {
      const text = JSON.stringify(entry.parse({ nodeId: node.nodeId, url: node.url, talks: node.sessions }));
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
      // One that comes back meanwhile stands in the set again with its next beat.
      if (gone.length > 0) await orUnavailable(client.srem(IDS, gone));
      return texts.flatMap(read);
    },
  };
}

/** What a node of another version wrote, and this one does not understand, is as good as nothing. */
function read(text: string | null): VoiceNode[] {
  if (text === null) return [];
  const parsed = entry.safeParse(JSON.parse(text));
  if (!parsed.success) return [];
  const { nodeId, url, talks: sessions } = parsed.data;
  return [{ nodeId, url, sessions }];
}

const keyOf = (nodeId: string) => `${IDS}:${nodeId}`;
