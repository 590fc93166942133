import { expect, test } from 'vitest';

import { startHeartbeat } from '../../../src/streams/transport/heartbeat.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

function beating() {
  const clock = createSimulatedClock();
  const told: string[] = [];
  const heartbeat = startHeartbeat({
    clock,
    intervalMs: 1000,
    ping: () => told.push('ping'),
    onSilent: () => told.push('silent'),
  });
  return { clock, told, heartbeat };
}

test('a peer that answers is asked again and again', () => {
  const { clock, told, heartbeat } = beating();
  for (let second = 0; second < 60; second++) {
    clock.advance(1000);
    heartbeat.heard();
  }
  expect(told).toEqual(new Array(60).fill('ping'));
});

test('a peer that leaves five questions unanswered is given up, once', () => {
  const { clock, told, heartbeat } = beating();
  clock.advance(1000);
  heartbeat.heard();
  for (let second = 0; second < 20; second++) clock.advance(1000);
  expect(told).toEqual([...new Array(6).fill('ping'), 'silent']);
});

test('a process that stood still does not take its peer for the one that did', () => {
  const { clock, told, heartbeat } = beating();
  clock.advance(1000);
  // The timer rings once, however late.
  clock.advance(1000);
  heartbeat.heard();
  clock.advance(1000);
  expect(told).not.toContain('silent');
});

test('nobody is asked once it is stopped', () => {
  const { clock, told, heartbeat } = beating();
  heartbeat.stop();
  heartbeat.stop();
  clock.advance(60_000);
  expect(told).toEqual([]);
});
