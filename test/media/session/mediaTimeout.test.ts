import { expect, it } from 'vitest';
import { MediaTimeout } from '../../../src/media/session/mediaTimeout.ts';

function start(timeoutMs: number) {
  const events: string[] = [];
  const timeout = new MediaTimeout({
    timeoutMs,
    nowMs: 0,
    onFirstPacket: (nowMs) => events.push(`first packet ${nowMs}`),
    onTimeout: () => events.push('timeout'),
  });
  const tick = (nowMs: number) => {
    timeout.tick(nowMs);
    return events.splice(0);
  };
  return { timeout, tick, events };
}

it('MediaTimeout reports the first packet once', () => {
  const { timeout, events } = start(1000);
  timeout.received(20);
  timeout.received(40);
  expect(events).toEqual(['first packet 20']);
});

it('MediaTimeout reports each silence once', () => {
  const { timeout, tick } = start(1000);
  expect([tick(999), tick(1000), tick(2000)]).toEqual([[], ['timeout'], []]);
  timeout.received(2500);
  expect([tick(3499), tick(3500)]).toEqual([['first packet 2500'], ['timeout']]);
});

it('MediaTimeout starts anew after a hold', () => {
  const { timeout, tick } = start(1000);
  timeout.expect(false, 0);
  expect(tick(50_000)).toEqual([]);
  timeout.expect(true, 50_000);
  timeout.expect(true, 50_900);
  expect([tick(50_999), tick(51_000)]).toEqual([[], ['timeout']]);
});

it('MediaTimeout is off at 0, and refuses a negative timeout', () => {
  expect(start(0).tick(1e9)).toEqual([]);
  expect(() => start(-1)).toThrow(RangeError);
});
