import type { WidgetSessions } from '../../../agents/accounts/widgetToken.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { redisLeasedSlots } from './leasedSlots.ts';

/** Widget sessions are not stored: after an outage of Redis they are counted again as their slots are renewed. */
const NO_STORED_HOLDERS = async () => [];

export function redisWidgetSessions(redis: RedisConnection): WidgetSessions {
  const slots = redisLeasedSlots(redis);
  return {
    async begin(tokenId, streamId, most) {
      return (await slots.take(keyOf(tokenId), streamId, most, 0, NO_STORED_HOLDERS)) === 0;
    },
    renew: (tokenId, streamId) => slots.renew(keyOf(tokenId), streamId),
    end: (tokenId, streamId) => slots.free(keyOf(tokenId), streamId),
  };
}

const keyOf = (tokenId: string) => `callway:widget:{${tokenId}}:talks`;
