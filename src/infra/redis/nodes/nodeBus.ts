import { z } from 'zod';

import type { CallRequest, CallResponse } from '../../../calls/nodes/callRequest.ts';
import type { NodeBus, NodeMessage } from '../../../calls/nodes/nodeBus.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const CHANNEL = 'callway:nodes:';

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

const nodeMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('trunks') }),
  z.object({ kind: z.literal('hangup'), callId: z.string() }),
  z.object({
    kind: z.literal('call_request'),
    callId: z.string(),
    requestId: z.string(),
    // Written by another node of ours, as are the answers.
    request: z.custom<CallRequest>(isObject),
  }),
  z.object({
    kind: z.literal('call_response'),
    requestId: z.string(),
    response: z.custom<CallResponse>(isObject),
  }),
  z.object({ kind: z.literal('recording_request'), key: z.string(), requestId: z.string() }),
]) satisfies z.ZodType<NodeMessage>;

export interface NodeBusDeps {
  /** The connection for commands. */
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
