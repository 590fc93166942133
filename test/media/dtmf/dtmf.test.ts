import { describe, expect, it } from 'vitest';
import { codeOf, digitOf, parseTelephoneEvent, writeTelephoneEvent } from '../../../src/media/dtmf/event.ts';
import { DTMF_END_LOST_AFTER_MS, DtmfReceiver } from '../../../src/media/dtmf/receiver.ts';
import { DtmfSender } from '../../../src/media/dtmf/sender.ts';

describe('telephone event', () => {
  const bytes = Uint8Array.of(
    0x0b, // key #
    0x8a, // end, 10 dB below 0 dBm0
    0x03, // 800 ticks,
    0x20, // upper and lower byte
  );
  const event = { code: 11, isEnd: true, volumeDb: 10, durationTicks: 800 };

  it('is read and written', () => {
    expect(parseTelephoneEvent(bytes)).toEqual(event);
    const out = new Uint8Array(4);
    expect(writeTelephoneEvent(event, out)).toBe(4);
    expect(out).toEqual(bytes);
  });

  it('needs four bytes, and ignores more', () => {
    expect(parseTelephoneEvent(bytes.subarray(0, 3))).toBeUndefined();
    expect(parseTelephoneEvent(Uint8Array.of(...bytes, 1, 2))).toEqual(event);
    expect(() => writeTelephoneEvent(event, new Uint8Array(3))).toThrow(RangeError);
  });

  it('has sixteen digits', () => {
    expect(Array.from({ length: 17 }, (_, code) => digitOf(code)).join('')).toBe('0123456789*#ABCD');
    expect(['5', '#', 'd', 'E', '', '12'].map(codeOf)).toEqual([5, 11, 15, undefined, undefined, undefined]);
  });
});

/** A received packet; each is 20 ms after the one before it unless it says when. */
interface Packet {
  readonly code: number;
  readonly timestamp: number;
  readonly ticks: number;
  readonly isEnd?: boolean;
  readonly atMs?: number;
  /** Default: one more than that of the packet before. */
  readonly sequenceNumber?: number;
  readonly ssrc?: number;
}

function openReceiver(rtpClockRateHz = 8000) {
  const digits: string[] = [];
  const receiver = new DtmfReceiver(({ digit, durationMs }) => digits.push(`${digit} ${durationMs}`));
  let nowMs = -20;
  let sequence = 65_533;
  return {
    receiver,
    receive(packets: readonly Packet[]) {
      for (const { code, timestamp, ticks, isEnd = false, ssrc = 1, ...rest } of packets) {
        nowMs = rest.atMs ?? nowMs + 20;
        receiver.expire(nowMs);
        sequence = rest.sequenceNumber ?? sequence + 1;
        const payload = new Uint8Array(4);
        writeTelephoneEvent({ code, isEnd, volumeDb: 10, durationTicks: ticks }, payload);
        const packet = { ssrc, sequenceNumber: sequence & 0xffff, timestamp, payload: () => payload };
        receiver.receive(packet, rtpClockRateHz, nowMs);
      }
      receiver.expire(nowMs + DTMF_END_LOST_AFTER_MS);
      return digits.splice(0);
    },
    expire(nowMs: number) {
      receiver.expire(nowMs);
      return digits.splice(0);
    },
  };
}

/** Packets of a press. @param from - Timestamp. @param ticks - Durations; the last one is repeated as `ends` end packets. */
function press(code: number, from: number, ticks: readonly number[], ends = 3, moves = false): Packet[] {
  const last = ticks.at(-1) ?? 0;
  const at = (duration: number) => (moves ? from + duration - (ticks[0] ?? 0) : from);
  return [
    ...ticks.map((duration) => ({ code, timestamp: at(duration), ticks: duration })),
    ...Array.from({ length: ends }, () => ({ code, timestamp: at(last), ticks: last, isEnd: true })),
  ];
}
const TONE = [160, 320, 480, 640];
/** Starts a press at a time. */
const at = (atMs: number, [first, ...others]: Packet[]): Packet[] =>
  first ? [{ ...first, atMs }, ...others] : [];

describe('DtmfReceiver', () => {
  const five = press(5, 1000, [160, 320, 480]);
  it.each<{ name: string; packets: readonly Packet[]; expected: readonly string[] }>([
    { name: 'a digit whose end is sent three times', packets: five, expected: ['5 60'] },
    { name: 'a digit with one end packet', packets: five.slice(5), expected: ['5 60'] },
    {
      name: 'digits of one packet each',
      packets: [
        ...at(
          0,
          press(5, 1000, [], 1).map((one) => ({ ...one, ticks: 800 })),
        ),
        ...at(
          100,
          press(5, 1800, [], 1).map((one) => ({ ...one, ticks: 800 })),
        ),
        ...at(
          300,
          press(5, 1800, [], 1).map((one) => ({ ...one, ticks: 800 })),
        ),
      ],
      expected: ['5 100', '5 100', '5 100'],
    },
    {
      name: 'a digit whose end packets are late',
      packets: [
        ...at(0, press(5, 1000, [160, 320, 480], 0)),
        ...[400, 700].flatMap((ms) => at(ms, [{ code: 5, timestamp: 1000, ticks: 480, isEnd: true }])),
      ],
      expected: ['5 60'],
    },
    {
      name: 'the same digit twice',
      packets: [...five, ...press(5, 2600, [160, 320], 1)],
      expected: ['5 60', '5 40'],
    },
    {
      name: 'the same digit twice, without ends',
      packets: [...at(0, press(5, 1000, [160], 0)), ...at(100, press(5, 1800, [160, 320], 0))],
      expected: ['5 20', '5 40'],
    },
    {
      name: 'a digit whose end is lost, ended by the next digit',
      packets: [...press(5, 1000, [160, 320], 0), ...press(6, 2600, [160], 1)],
      expected: ['5 40', '6 20'],
    },
    {
      name: 'late packets of a released digit',
      packets: [
        { code: 6, timestamp: 2600, ticks: 160, isEnd: true, sequenceNumber: 20 },
        ...five.map((one, index) => ({ ...one, sequenceNumber: 10 + index })),
      ],
      expected: ['6 20'],
    },
    {
      name: 'a start that its own end has overtaken',
      packets: [
        { code: 5, timestamp: 1000, ticks: 480, isEnd: true, sequenceNumber: 3 },
        { code: 5, timestamp: 1000, ticks: 160, sequenceNumber: 1 },
        { code: 5, timestamp: 1000, ticks: 320, sequenceNumber: 2 },
      ],
      expected: ['5 60'],
    },
    {
      name: 'every packet twice',
      packets: five.flatMap((one, index) => [one, one].map((copy) => ({ ...copy, sequenceNumber: index }))),
      expected: ['5 60'],
    },
    {
      name: 'a digit through an outage longer than the wait for its end',
      packets: [...press(5, 1000, [160, 320], 0), ...at(400, press(5, 1000, [3360, 3520]))],
      expected: ['5 40'],
    },
    {
      name: 'digits whose timestamp moves with each packet',
      packets: [...press(2, 1000, TONE, 3, true), ...press(2, 2600, TONE, 3, true)],
      expected: ['2 80', '2 80'],
    },
    {
      name: 'digits whose timestamp moves, without ends',
      packets: [...at(0, press(2, 1000, TONE, 0, true)), ...at(200, press(2, 2600, TONE, 0, true))],
      expected: ['2 80', '2 80'],
    },
    {
      name: 'ends at the time of the release, each at its own',
      packets: [
        ...press(2, 1000, TONE, 0),
        ...[1640, 1800, 1960].map((timestamp) => ({ code: 2, timestamp, ticks: 640, isEnd: true })),
        ...press(2, 3000, TONE),
      ],
      expected: ['2 80', '2 80'],
    },
    {
      name: 'repeated ends at any timestamps',
      packets: [
        ...press(2, 1000, TONE, 1),
        ...[5_000_000, 77].map((timestamp) => ({ code: 2, timestamp, ticks: 640, isEnd: true })),
      ],
      expected: ['2 80'],
    },
    {
      name: 'a digit of packets at any timestamps',
      packets: [7_000_000, 5, 4_000_000_000].map((timestamp, index) => ({
        ...{ code: 2, timestamp, ticks: 160 * (index + 1) },
        isEnd: index === 2,
      })),
      expected: ['2 60'],
    },
    {
      name: 'different digits of one timestamp',
      packets: [2, 0, 1].flatMap((code) => press(code, 1000, TONE)),
      expected: ['2 80', '0 80', '1 80'],
    },
    {
      name: 'the same digit at the same timestamp after a pause',
      packets: [...at(0, press(2, 1000, TONE)), ...at(240, press(2, 1000, TONE))],
      expected: ['2 80', '2 80'],
    },
    {
      name: 'the same, without ends',
      packets: [...at(0, press(2, 1000, TONE, 0)), ...at(240, press(2, 1000, TONE, 0))],
      expected: ['2 80', '2 80'],
    },
    {
      name: 'digits of a source of their own, which is new each time',
      packets: [1, 2].flatMap((ssrc) => press(2, 1000, TONE).map((one) => ({ ...one, ssrc }))),
      expected: ['2 80', '2 80'],
    },
    {
      name: 'digits across the wrap of the timestamp',
      packets: [...press(1, 0xffffff00, [160], 1), ...press(2, 0x00000640, [160], 1)],
      expected: ['1 20', '2 20'],
    },
    {
      name: 'a digit longer than one event, in segments',
      packets: [...press(5, 1000, [65_440, 0xffff], 0), ...press(5, 1000 + 0xffff, [160, 320], 2)],
      expected: [`5 ${(0xffff + 320) / 8}`],
    },
    {
      name: 'a digit longer than one event, whose duration wraps',
      packets: press(5, 1000, [65_440, 64, 224], 2),
      expected: [`5 ${(0x10000 + 224) / 8}`],
    },
    {
      name: 'a digit longer than one event, whose duration stands',
      packets: press(5, 1000, [65_440, 0xffff, 0xffff], 2),
      expected: [`5 ${0xffff / 8}`],
    },
    {
      name: 'no digit in flash and dial tone',
      packets: [...press(16, 0, [160], 1), ...press(66, 1600, [160], 1)],
      expected: [],
    },
  ])('receives $name', ({ packets, expected }) => {
    expect(openReceiver().receive(packets)).toEqual(expected);
  });

  it('releases a digit once after a timeout when its end was lost', () => {
    const { receiver, receive, expire } = openReceiver();
    const payload = Uint8Array.of(5, 10, 0, 160);
    receiver.receive({ ssrc: 1, sequenceNumber: 1, timestamp: 1000, payload: () => payload }, 8000, 0);
    expect(expire(DTMF_END_LOST_AFTER_MS - 1)).toEqual([]);
    expect(expire(DTMF_END_LOST_AFTER_MS)).toEqual(['5 20']);
    expect(expire(10_000)).toEqual([]);
    expect(receive([{ code: 5, timestamp: 1000, ticks: 160, sequenceNumber: 1 }])).toEqual([]);
  });

  it('counts malformed packets', () => {
    const { receiver } = openReceiver();
    const payload = () => new Uint8Array(3);
    receiver.receive({ ssrc: 1, sequenceNumber: 1, timestamp: 0, payload }, 8000, 0);
    expect(receiver.malformedPackets).toBe(1);
  });

  it('measures durations by the clock of the events', () => {
    expect(openReceiver(48_000).receive(press(5, 0, [4800]))).toEqual(['5 100']);
  });
});

describe('DtmfSender', () => {
  function frames(sender: DtmfSender, count: number, rtpClockRateHz = 8000) {
    const out = new Uint8Array(4);
    return Array.from({ length: count }, (_, frame) => {
      const sent = sender.next(1000 + frame * 160, rtpClockRateHz, out);
      if (sent === undefined) return 'audio';
      const event = parseTelephoneEvent(out);
      return `${event?.code} ${sent.timestamp} ${event?.durationTicks}${event?.isEnd ? ' end' : ''}${sent.marker ? ' marker' : ''}`;
    });
  }

  it('sends digits: marker, growing duration, three end packets, a pause', () => {
    const sender = new DtmfSender();
    sender.send('1#');
    expect(sender.isActive).toBe(true);
    expect(frames(sender, 12)).toEqual([
      '1 1000 160 marker',
      '1 1000 320',
      '1 1000 480',
      '1 1000 640',
      '1 1000 800 end',
      '1 1000 800 end',
      '1 1000 800 end',
      'audio',
      'audio',
      'audio',
      '11 2600 160 marker',
      '11 2600 320',
    ]);
    frames(sender, 5);
    expect(sender.isActive).toBe(false);
  });

  it('counts durations by the clock of the events', () => {
    const sender = new DtmfSender();
    sender.send('A');
    expect(frames(sender, 2, 48_000)).toEqual(['12 1000 960 marker', '12 1000 1920']);
  });

  it('is received correctly with a third of the packets lost', () => {
    const digits = '0123456789*#ABCD';
    for (const lost of [0, 1, 2]) {
      const sender = new DtmfSender();
      sender.send(digits);
      let received = '';
      const receiver = new DtmfReceiver(({ digit }) => {
        received += digit;
      });
      const out = new Uint8Array(4);
      for (let frame = 0; frame < 200; frame++) {
        const sent = sender.next(frame * 160, 8000, out);
        if (sent === undefined || frame % 3 === lost) continue;
        const packet = { ssrc: 1, sequenceNumber: frame, timestamp: sent.timestamp, payload: () => out };
        receiver.receive(packet, 8000, frame * 20);
      }
      expect(received).toBe(digits);
    }
  });

  it('refuses an invalid digit with all digits of its request', () => {
    const sender = new DtmfSender();
    expect(() => sender.send('12x')).toThrow("'x' is not a DTMF digit");
    expect(sender.isActive).toBe(false);
    expect(() => sender.send('1'.repeat(257))).toThrow('256');
  });
});
