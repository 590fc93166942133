import { CONSOLE_SESSION_MS, type ConsoleSessions } from '../../../agents/accounts/consoleSessions.ts';
import type { Sealer } from '../../../base/sealer.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** A key for each session's digest, with the sealed credential. */
export function redisConsoleSessions(redis: RedisConnection, sealer: Sealer): ConsoleSessions {
  const keyOf = (id: string) => `callway:console:${sealer.digest(id)}`;
  return {
    async start(id, credential) {
      await orUnavailable(redis.client.set(keyOf(id), sealer.seal(credential), 'PX', CONSOLE_SESSION_MS));
    },
    async find(id) {
      const sealed = await orUnavailable(redis.client.get(keyOf(id)));
      return sealed === null ? undefined : sealer.open(sealed);
    },
    async end(id) {
      await orUnavailable(redis.client.del(keyOf(id)));
    },
  };
}
