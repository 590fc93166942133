import { z } from 'zod';

import type { VoiceNodeRegistry } from '../../../calls/nodes/voiceNodeRegistry.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { leasedEntries } from './leasedEntries.ts';

const entry = z.object({
  nodeId: z.string(),
  url: z.url(),
  talks: z.int().min(0),
  isOverloaded: z.boolean().default(false),
});

export function redisVoiceNodes(redis: RedisConnection): VoiceNodeRegistry {
  const entries = leasedEntries(redis, 'callway:{voice-nodes}', entry);
  return {
    async register({ sessions: talks, ...node }, leaseMs) {
      await entries.put(node.nodeId, entry.parse({ ...node, talks }), leaseMs);
    },
    deregister: entries.remove,
    async list() {
      return (await entries.list()).map(({ talks: sessions, ...node }) => ({ ...node, sessions }));
    },
  };
}
