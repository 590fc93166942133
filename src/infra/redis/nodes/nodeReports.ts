import { type NodeReport, type NodeReports, nodeReport } from '../../../calls/nodes/nodeReport.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** One hash slot for all nodes, so that a cluster reads them with one command. */
const IDS = 'callway:{node-reports}';

/** One expiring key for each node, and a set of the node ids. */
export function redisNodeReports({ client }: RedisConnection): NodeReports {
  return {
    async publish(report, leaseMs) {
      const { nodeId } = report;
      await orUnavailable(
        Promise.all([
          client.set(keyOf(nodeId), JSON.stringify(report), 'PX', leaseMs),
          client.sadd(IDS, nodeId),
        ]),
      );
    },
    async remove(nodeId) {
      await orUnavailable(Promise.all([client.del(keyOf(nodeId)), client.srem(IDS, nodeId)]));
    },
    async list() {
      const ids = (await orUnavailable(client.smembers(IDS))).toSorted();
      if (ids.length === 0) return [];
      const texts = await orUnavailable(client.mget(ids.map(keyOf)));
      const gone = ids.filter((_, index) => texts[index] === null);
      // A node that comes back is added again by its next report.
      if (gone.length > 0) await orUnavailable(client.srem(IDS, gone));
      return texts.flatMap(read);
    },
  };
}

/** Ignores what another version wrote in a form that this one does not know. */
function read(text: string | null): NodeReport[] {
  if (text === null) return [];
  const parsed = nodeReport.safeParse(JSON.parse(text));
  return parsed.success ? [parsed.data] : [];
}

const keyOf = (nodeId: string) => `${IDS}:${nodeId}`;
