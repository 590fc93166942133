import { z } from 'zod';

import type { NodeBus, NodeMessage } from '../../../calls/nodes/nodeBus.ts';
import type { CodecName } from '../../../media/codecs/codec.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const CHANNEL = 'callway:nodes:';

const nodeMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('trunks') }),
  z.object({ kind: z.literal('hangup'), callId: z.string() }),
  z.object({
    kind: z.literal('transfer'),
    callId: z.string(),
    to: z.string(),
    options: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({ kind: z.literal('read_quality'), callId: z.string(), requestId: z.string() }),
  z.object({
    kind: z.literal('quality'),
    requestId: z.string(),
    quality: z
      .object({
        codec: z.custom<CodecName>((name) => typeof name === 'string'),
        packetsReceived: z.number(),
        packetsLost: z.number(),
        jitterMs: z.number(),
        mos: z.number().optional(),
      })
      .transform(({ mos, ...quality }) => ({ ...quality, mos }))
      .nullable(),
  }),
]) satisfies z.ZodType<NodeMessage>;

export interface NodeBusDeps {
  /** For commands. */
  readonly publisher: RedisConnection;
  /** A separate connection: a subscribed connection cannot send commands. */
  readonly subscriber: RedisConnection;
  readonly onError: (error: unknown, what: string) => void;
}

/** Redis pub/sub. Messages that are published while a node is disconnected are lost to it. */
export function redisNodeBus({ publisher, subscriber, onError }: NodeBusDeps): NodeBus {
  // Pub/sub ignores database numbers, and installations may share a server with one database each.
  const channel = CHANNEL + publisher.databaseNumber;
  return {
    async publish(message) {
      await orUnavailable(publisher.client.publish(channel, JSON.stringify(message)));
    },
    subscribe(listener) {
      const { client } = subscriber;
      const subscribe = () => {
        // A failure means that the connection is lost; the next connection subscribes again.
        client.subscribe(channel).catch((error: unknown) => onError(error, 'node bus: subscription failed'));
      };
      const hear = (from: string, text: string) => {
        if (from !== channel) return;
        try {
          // Message kinds of newer versions are ignored.
          const message = nodeMessage.safeParse(JSON.parse(text)).data;
          if (message) listener(message);
        } catch (error) {
          onError(error, 'node bus: invalid message');
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
