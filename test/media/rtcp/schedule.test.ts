import { describe, expect, it } from 'vitest';
import { roundTripMs, toNtp, toShortDelay, toShortNtp } from '../../../src/media/rtcp/ntp.ts';
import { ReportSchedule, reportIntervalMs } from '../../../src/media/rtcp/schedule.ts';

const compensation = Math.E - 1.5;

describe('reportIntervalMs', () => {
  const call = {
    sessionBandwidthBytesPerSecond: 16_000,
    members: 2,
    senders: 2,
    weSent: true,
    averagePacketBytes: 108,
    isFirst: false,
  };

  it.each([
    { name: 'a phone call: the minimum of 5 s', load: call, random: 0.5, expected: 5000 / compensation },
    {
      name: 'half of it for the first',
      load: { ...call, isFirst: true },
      random: 0.5,
      expected: 2500 / compensation,
    },
    { name: 'never below half', load: call, random: 0, expected: 2500 / compensation },
    { name: 'never above one and a half', load: call, random: 1, expected: 7500 / compensation },
    {
      name: 'longer for the listeners of a big session',
      load: { ...call, members: 1000, senders: 2, weSent: false },
      random: 0.5,
      expected: (1000 * ((108 * 998) / (800 * 0.75))) / compensation,
    },
    {
      name: 'short for its few senders',
      load: { ...call, members: 1000, senders: 2 },
      random: 0.5,
      expected: 5000 / compensation,
    },
  ])('$name', ({ load, random, expected }) => {
    expect(reportIntervalMs(load, random)).toBeCloseTo(expected, 6);
  });
});

describe('ReportSchedule', () => {
  it('is due after half the minimum first, then after the minimum each time', () => {
    const schedule = new ReportSchedule({
      startMs: 1000,
      sessionBandwidthBytesPerSecond: 16_000,
      random: () => 0.5,
    });
    const first = 1000 + 2500 / compensation;
    expect(schedule.isDue(first - 0.01)).toBe(false);
    expect(schedule.isDue(first)).toBe(true);
    schedule.sent(first, 80, true);
    expect(schedule.dueMs).toBeCloseTo(first + 5000 / compensation, 6);
  });
});

describe('round trip', () => {
  it('follows the example of RFC 3550 section 6.4.1', () => {
    // the block came at 0xb710:8000, reports 0xb705:2000 as seen last, and a delay of 0x0005:4000
    const arrival = { ntpSeconds: 0xb44db710, ntpFraction: 0x80000000 };
    const block = { lastSenderReport: 0xb7052000, delaySinceLastSenderReport: 0x00054000 };
    expect(roundTripMs(arrival, block)).toBe(6125);
  });

  it('is unknown before a sender report, and for inconsistent values', () => {
    const arrival = toNtp(1_700_000_000_000);
    expect(roundTripMs(arrival, { lastSenderReport: 0, delaySinceLastSenderReport: 0 })).toBeUndefined();
    const future = { lastSenderReport: toShortNtp(arrival), delaySinceLastSenderReport: toShortDelay(50) };
    expect(roundTripMs(arrival, future)).toBeUndefined();
  });

  it('is measured across the wrap of the short time', () => {
    const sentMs = (65_536 * 20_000 - 2_208_988_800 + 2 ** 32) * 1000 - 30; // 30 ms before 16 bits of seconds wrap
    const block = {
      lastSenderReport: toShortNtp(toNtp(sentMs)),
      delaySinceLastSenderReport: toShortDelay(20),
    };
    expect(roundTripMs(toNtp(sentMs + 75), block)).toBeCloseTo(55, 0);
  });

  it('toNtp converts the Unix epoch', () => {
    expect(toNtp(500)).toEqual({ ntpSeconds: 2_208_988_800, ntpFraction: 0x80000000 });
  });
});
