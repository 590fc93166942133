import type { WidgetTalks } from '../../../agents/accounts/widgetToken.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { redisLeasedSlots } from './leasedSlots.ts';

/** Talks are not stored: after an outage of Redis they are counted again as their slots are renewed. */
const NO_STORED_HOLDERS = async () => [];

export function redisWidgetTalks(redis: RedisConnection): WidgetTalks {
  const slots = redisLeasedSlots(redis);
  return {
    async begin(tokenId, streamId, most) {
      return (await slots.take(talksOf(tokenId), streamId, most, 0, NO_STORED_HOLDERS)) === 0;
    },
    renew: (tokenId, streamId) => slots.renew(talksOf(tokenId), streamId),
    end: (tokenId, streamId) => slots.free(talksOf(tokenId), streamId),
  };
}

const talksOf = (tokenId: string) => `callway:widget:{${tokenId}}:talks`;
