import { expect, test } from 'vitest';
import { startRetransmission } from '../../../sip/dialog/retransmission.ts';
import { simulatedClock } from '../support/simulatedClock.ts';

function run(maxGapMs: number, acknowledgedAtMs?: number): string[] {
  const clock = simulatedClock();
  const log: string[] = [];
  const retransmission = startRetransmission(
    clock,
    { t1Ms: 500, maxGapMs },
    {
      send: () => log.push(`${clock.now()}`),
      giveUp: () => log.push(`${clock.now()} given up`),
    },
  );
  clock.advance(acknowledgedAtMs ?? 60_000);
  retransmission.stop();
  clock.advance(60_000);
  expect(clock.pending).toBe(0);
  return log;
}

test('A 200 is retransmitted at intervals up to T2 for 32 s', () => {
  expect(run(4000)).toEqual([
    '500',
    '1500',
    '3500',
    '7500',
    '11500',
    '15500',
    '19500',
    '23500',
    '27500',
    '31500',
    '32000 given up',
  ]);
});

test('A reliable provisional response is retransmitted at doubling intervals', () => {
  expect(run(Number.POSITIVE_INFINITY)).toEqual([
    '500',
    '1500',
    '3500',
    '7500',
    '15500',
    '31500',
    '32000 given up',
  ]);
});

test('An acknowledgment stops the retransmission', () => {
  expect(run(4000, 2000)).toEqual(['500', '1500']);
});
