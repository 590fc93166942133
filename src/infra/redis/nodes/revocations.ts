import { setTimeout as delay } from 'node:timers/promises';
import type { Revocations } from '../../../agents/accounts/apiAuthenticator.ts';
import { uuidV7 } from '../../../base/values/ids.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const CHANNEL = 'callway:keys:revoked:';
const ACKNOWLEDGED = 'callway:keys:revoked:heard:';
/**
 * A node that does not acknowledge within this time counts as gone; it reads keys from the database when it comes
 * back.
 */
const MAX_WAIT_MS = 1_000;
const POLL_MS = 2;
const ACKNOWLEDGEMENT_TTL_MS = 10_000;

interface Announcement {
  readonly id: string;
  readonly digests: readonly string[];
}

/**
 * Announces revoked API keys to all nodes and waits for their acknowledgements.
 *
 * @param publisher - The connection for commands.
 * @param subscriber - A separate connection: a subscribed connection cannot send commands.
 */
export function redisRevocations(publisher: RedisConnection, subscriber: RedisConnection): Revocations {
  // Pub/sub ignores database numbers, and installations may share a server with one database each.
  const channel = CHANNEL + publisher.databaseNumber;
  let subscribed = false;
  return {
    isConnected: () => subscribed && subscriber.isReady(),
    listen(onRevoked, onDisconnected) {
      const client = subscriber.client;
      const subscribe = () => {
        client.subscribe(channel).then(
          () => {
            subscribed = true;
          },
          () => {
            // The next connection subscribes again. Cached keys are not trusted until then.
          },
        );
      };
      const deaf = () => {
        subscribed = false;
        onDisconnected();
      };
      const message = (_channel: string, text: string) => {
        const { id, digests } = JSON.parse(text) as Announcement;
        onRevoked(digests);
        void publisher.client.incr(ACKNOWLEDGED + id).catch(() => {
          // The announcer stops waiting by itself.
        });
      };
      client.on('message', message);
      client.on('ready', subscribe);
      client.on('close', deaf);
      if (subscriber.isReady()) subscribe();
      return () => {
        client.off('message', message);
        client.off('ready', subscribe);
        client.off('close', deaf);
      };
    },
    async announce(digests) {
      if (digests.length === 0) return;
      const announcement: Announcement = { id: uuidV7(), digests };
      const key = ACKNOWLEDGED + announcement.id;
      const { client } = publisher;
      await orUnavailable(client.set(key, 0, 'PX', ACKNOWLEDGEMENT_TTL_MS));
      const listeners = await orUnavailable(client.publish(channel, JSON.stringify(announcement)));
      const deadline = Date.now() + MAX_WAIT_MS;
      while (Date.now() < deadline) {
        if (Number(await orUnavailable(client.get(key))) >= listeners) return;
        await delay(POLL_MS);
      }
    },
  };
}
