import { z } from 'zod';
import { type NodeReports, nodeReport } from '../../../calls/nodes/nodeReport.ts';
import type { VoiceNodeRegistry } from '../../../calls/nodes/voiceNodeRegistry.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** Entries of nodes, each of which expires unless its node renews it. */
interface LeasedEntries<Entry> {
  put(nodeId: string, entry: Entry, leaseMs: number): Promise<void>;
  remove(nodeId: string): Promise<void>;
  /** Lists the entries in the order of their node ids. */
  list(): Promise<Entry[]>;
}

/**
 * Stores entries in one expiring key for each node, and a set of the node ids.
 *
 * @param name - The name in braces, so that a cluster keeps all entries in one hash slot and reads them with one
 *   command.
 */
function leasedEntries<Schema extends z.ZodType>(
  { client }: RedisConnection,
  name: `callway:{${string}}`,
  schema: Schema,
): LeasedEntries<z.output<Schema>> {
  const keyOf = (nodeId: string) => `${name}:${nodeId}`;
  return {
    async put(nodeId, entry, leaseMs) {
      await orUnavailable(
        Promise.all([
          client.set(keyOf(nodeId), JSON.stringify(entry), 'PX', leaseMs),
          client.sadd(name, nodeId),
        ]),
      );
    },
    async remove(nodeId) {
      await orUnavailable(Promise.all([client.del(keyOf(nodeId)), client.srem(name, nodeId)]));
    },
    async list() {
      const ids = (await orUnavailable(client.smembers(name))).toSorted();
      if (ids.length === 0) return [];
      const texts = await orUnavailable(client.mget(ids.map(keyOf)));
      const gone = ids.filter((_, index) => texts[index] === null);
      // A node that comes back is added again when it renews its entry.
      if (gone.length > 0) await orUnavailable(client.srem(name, gone));
      return texts.flatMap((text) => {
        if (text === null) return [];
        // Another version of the product may have written a form that this one does not know.
        const parsed = schema.safeParse(JSON.parse(text));
        return parsed.success ? [parsed.data] : [];
      });
    },
  };
}

export function redisNodeReports(redis: RedisConnection): NodeReports {
  const entries = leasedEntries(redis, 'callway:{node-reports}', nodeReport);
  return {
    publish: (report, leaseMs) => entries.put(report.nodeId, report, leaseMs),
    remove: entries.remove,
    list: entries.list,
  };
}

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
