import { expect, test } from 'vitest';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import type { TrunkSlots } from '../../../src/calls/trunks/trunkSlots.ts';
import { TrunkChannel } from '../../../src/calls/trunks/trunkSlots.ts';
import { unused } from '../../support/unused.ts';

/** The channel of one leg, over trunks of which `full` takes no more calls. */
function channelOf(trunkId: string | null, isAway = false) {
  const log: string[] = [];
  const channel = new TrunkChannel({
    slots: unused<TrunkSlots>('slots', {
      async acquire({ id }, holder, direction) {
        log.push(`acquire ${id} ${holder} ${direction}`);
        return id === 'full' ? 1500 : 0;
      },
      renew: async (id, holder) => void log.push(`renew ${id} ${holder}`),
      async release(id, holder) {
        log.push(`release ${id} ${holder}`);
        if (isAway) throw new Error('Redis is away');
      },
    }),
    holder: 'leg',
    trunkId,
    onError: (_error, what) => void log.push(what),
  });
  const moveTo = (id: string) => channel.moveTo({ id } as Trunk);
  const entries = () => log.splice(0);
  return { channel, moveTo, entries };
}

test('A leg holds a channel on one trunk at a time, renews it and releases it once', async () => {
  const { channel, moveTo, entries } = channelOf(null);
  await channel.renew();
  expect([await moveTo('a'), await moveTo('a'), entries()]).toEqual([0, 0, ['acquire a leg outbound']]);
  await channel.renew();
  expect([await moveTo('b'), entries()]).toEqual([
    0,
    ['renew a leg', 'release a leg', 'acquire b leg outbound'],
  ]);
  await channel.release();
  await channel.release();
  await channel.renew();
  expect(entries()).toEqual(['release b leg']);
});

test('A leg has no channel after it has moved to a trunk without a free one', async () => {
  const { channel, moveTo, entries } = channelOf('a');
  expect([await moveTo('full'), entries()]).toEqual([1500, ['release a leg', 'acquire full leg outbound']]);
  await channel.renew();
  await channel.release();
  expect(entries()).toEqual([]);
});

test('A channel that cannot be released is reported', async () => {
  const { channel, entries } = channelOf('a', true);
  await channel.release();
  expect(entries()).toEqual(['release a leg', 'trunk channel not released, it expires']);
});
