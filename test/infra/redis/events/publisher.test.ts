import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/base/values/clock.ts';
import type { NewLiveEvent } from '../../../../src/events/liveEvent.ts';
import type { EventLog } from '../../../../src/infra/redis/events/eventLog.ts';
import { LiveEventPublisher } from '../../../../src/infra/redis/events/publisher.ts';
import { unused } from '../../../support/unused.ts';

/** A log whose appends are answered by the test. */
function startPublisher() {
  const appends: { resolve(id: string): void; reject(error: Error): void }[] = [];
  const published: string[] = [];
  const errors: string[] = [];
  const publisher = new LiveEventPublisher({
    log: unused<EventLog>('log', {
      append: () => new Promise<string>((resolve, reject) => void appends.push({ resolve, reject })),
      announce: async () => {},
    }),
    clock: unused<Clock>('clock', { now: () => 5_000 }),
    onPublished: ({ id, event }) => published.push(`${event.callId} ${id}`),
    onError: (_error, what) => errors.push(what),
  });
  return { publisher, appends, published, errors };
}

const event = (callId: string): NewLiveEvent => ({
  type: 'call.held',
  projectId: 'p',
  sessionId: 's',
  callId,
  data: { direction: 'inbound', fromNumber: '+886223456789', toNumber: '+886912345678', trunkId: null },
});

describe('LiveEventPublisher', () => {
  test('sends an event without waiting for those before, and reports them in order', async () => {
    const { publisher, appends, published, errors } = startPublisher();
    for (const callId of ['first', 'second', 'third']) publisher.publish(event(callId));
    expect(appends).toHaveLength(3);
    appends[2]?.reject(new Error('connection closed'));
    appends[1]?.resolve('2-0');
    await new Promise(setImmediate);
    expect([published, errors]).toEqual([[], []]);
    appends[0]?.resolve('1-0');
    await publisher.close();
    expect(published).toEqual(['first 1-0', 'second 2-0', expect.stringMatching(/^third 5000-\d+$/)]);
    expect(errors).toEqual(['live events not published until Redis is back']);
  });

  test('loses events while 5,000 wait for Redis, and none once they are answered', async () => {
    const { publisher, appends, published, errors } = startPublisher();
    for (let count = 0; count < 5_001; count += 1) publisher.publish(event('c'));
    expect([appends.length, published.length, errors.length]).toEqual([5_000, 1, 1]);
    for (const append of appends) append.resolve('1-0');
    await publisher.close();
    publisher.publish(event('later'));
    appends.at(-1)?.resolve('2-0');
    await publisher.close();
    expect(published.slice(5_000)).toEqual(['c 1-0', 'later 2-0']);
  });
});
