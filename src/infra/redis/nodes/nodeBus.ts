import { z } from 'zod';

import type { NodeBus, NodeMessage } from '../../../calls/nodes/nodeBus.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const CHANNEL = 'callway:nodes:';

const nodeMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('trunks') }),
  z.object({ kind: z.literal('hangup'), callId: z.string() }),
  z.object({ kind: z.literal('transfer'), callId: z.string(), to: z.string() }),
]) satisfies z.ZodType<NodeMessage>;

export interface NodeBusDeps {
  /** For commands. */
  readonly publisher: RedisConnection;
  /** A connection of its own, since one that listens can do nothing else. */
  readonly subscriber: RedisConnection;
  readonly onError: (error: unknown, what: string) => void;
}

/** Redis publishes to who listens at the moment; a node without a connection misses what is said meanwhile. */
export function redisNodeBus({ publisher, subscriber, onError }: NodeBusDeps): NodeBus {
  // Messages reach all databases of a server, but installations may share one and keep a database each.
  const channel = CHANNEL + publisher.databaseNumber;
  return {
    async publish(message) {
      await orUnavailable(publisher.client.publish(channel, JSON.stringify(message)));
    },
    subscribe(listener) {
      const { client } = subscriber;
      const subscribe = () => {
        // Where this fails the connection is lost, and the next one subscribes.
        client.subscribe(channel).catch((error: unknown) => onError(error, 'nodes are not heard yet'));
      };
      const hear = (from: string, text: string) => {
        if (from !== channel) return;
        try {
          // A kind that only a younger version knows is none of ours.
          const message = nodeMessage.safeParse(JSON.parse(text)).data;
          if (message) listener(message);
        } catch (error) {
          onError(error, 'a message between nodes was not understood');
        }
      };
      client.on('message', hear);
      client.on('ready', subscribe);
      if (subscriber.isReady()) subscribe();
      return () => {
        client.off('message', hear);
        client.off('ready', subscribe);
      };
    },
  };
}
