import { z } from 'zod';

import type { VoiceNodeRegistry } from '../../../calls/nodes/voiceNodeRegistry.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { leasedEntries } from './leasedEntries.ts';

const entry = z.object({
  nodeId: z.string(),
  url: z.url(),
  sessions: z.int().min(0),
  isOverloaded: z.boolean().default(false),
});

export function redisVoiceNodes(redis: RedisConnection): VoiceNodeRegistry {
  const entries = leasedEntries(redis, 'callway:{voice-nodes}', entry);
  return {
    register: (node, leaseMs) => entries.put(node.nodeId, entry.parse(node), leaseMs),
    deregister: entries.remove,
    list: entries.list,
  };
}
