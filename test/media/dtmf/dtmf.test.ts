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

/** A received packet: event code, RTP timestamp, duration in ticks, end bit. */
type Packet = readonly [code: number, timestamp: number, ticks: number, isEnd?: boolean];

function openReceiver(rtpClockRateHz = 8000) {
  const digits: string[] = [];
  const receiver = new DtmfReceiver(rtpClockRateHz, ({ digit, durationMs }) =>
    digits.push(`${digit} ${durationMs}`),
  );
  const payload = new Uint8Array(4);
  return {
    receiver,
    receive(packets: readonly Packet[]) {
      for (const [index, [code, timestamp, durationTicks, isEnd = false]] of packets.entries()) {
        writeTelephoneEvent({ code, isEnd, volumeDb: 10, durationTicks }, payload);
        receiver.receive(payload, timestamp, index * 20);
      }
      return digits.splice(0);
    },
    expire(nowMs: number) {
      receiver.expire(nowMs);
      return digits.splice(0);
    },
  };
}

describe('DtmfReceiver', () => {
  const five: readonly Packet[] = [
    [5, 1000, 160],
    [5, 1000, 320],
    [5, 1000, 480, true],
    [5, 1000, 480, true],
    [5, 1000, 480, true],
  ];
  it.each<{ name: string; packets: readonly Packet[]; expected: readonly string[] }>([
    {
      name: 'a digit whose end is sent three times',
      packets: five,
      expected: ['5 60'],
    },
    {
      name: 'a digit with one end packet',
      packets: five.slice(4),
      expected: ['5 60'],
    },
    {
      name: 'the same digit twice',
      packets: [...five, [5, 2600, 160], [5, 2600, 320, true]],
      expected: ['5 60', '5 40'],
    },
    {
      name: 'a digit whose end is lost, ended by the next digit',
      packets: [...five.slice(0, 2), [6, 2600, 160, true]],
      expected: ['5 40', '6 20'],
    },
    {
      name: 'late packets of a released digit',
      packets: [[6, 2600, 160, true], ...five],
      expected: ['6 20'],
    },
    {
      name: 'reordered updates',
      packets: [
        [5, 1000, 320],
        [5, 1000, 160],
        [5, 1000, 480, true],
      ],
      expected: ['5 60'],
    },
    {
      name: 'digits across the wrap of the timestamp',
      packets: [
        [1, 0xffffff00, 160, true],
        [2, 0x00000640, 160, true],
      ],
      expected: ['1 20', '2 20'],
    },
    {
      name: 'a digit longer than one event',
      packets: [
        [5, 1000, 0xffff],
        [5, 1000 + 0xffff, 160],
        [5, 1000 + 0xffff, 320, true],
        [5, 1000 + 0xffff, 320, true],
      ],
      expected: [`5 ${(0xffff + 320) / 8}`],
    },
    {
      name: 'no digit in flash and dial tone',
      packets: [
        [16, 0, 160, true],
        [66, 1600, 160, true],
      ],
      expected: [],
    },
  ])('receives $name', ({ packets, expected }) => {
    expect(openReceiver().receive(packets)).toEqual(expected);
  });

  it('releases a digit once after a timeout when its end was lost', () => {
    const { receive, expire } = openReceiver();
    expect(receive([[5, 1000, 160]])).toEqual([]);
    expect(expire(DTMF_END_LOST_AFTER_MS - 1)).toEqual([]);
    expect(expire(DTMF_END_LOST_AFTER_MS)).toEqual(['5 20']);
    expect(expire(10_000)).toEqual([]);
    expect(receive([[5, 1000, 480, true]])).toEqual([]);
  });

  it('counts malformed packets', () => {
    const { receiver } = openReceiver();
    receiver.receive(new Uint8Array(3), 0, 0);
    expect(receiver.malformedPackets).toBe(1);
  });

  it('measures durations by the RTP clock', () => {
    expect(openReceiver(48_000).receive([[5, 0, 4800, true]])).toEqual(['5 100']);
  });
});

describe('DtmfSender', () => {
  const create = (toneMs: number, pauseMs: number) =>
    new DtmfSender({ rtpClockRateHz: 8000, frameTicks: 160, toneMs, pauseMs });

  function frames(sender: DtmfSender, count: number, first = 1000) {
    const out = new Uint8Array(4);
    return Array.from({ length: count }, (_, frame) => {
      const sent = sender.next(first + frame * 160, out);
      if (sent === undefined) return 'audio';
      const event = parseTelephoneEvent(out);
      return `${event?.code} ${sent.timestamp} ${event?.durationTicks}${event?.isEnd ? ' end' : ''}${sent.marker ? ' marker' : ''}`;
    });
  }

  it('sends two digits: marker, growing duration, three end packets, a pause', () => {
    const sender = create(60, 80);
    sender.send('1#');
    expect(sender.isActive).toBe(true);
    expect(frames(sender, 13)).toEqual([
      '1 1000 160 marker',
      '1 1000 320',
      '1 1000 480 end',
      '1 1000 480 end',
      '1 1000 480 end',
      'audio',
      'audio',
      '11 2120 160 marker',
      '11 2120 320',
      '11 2120 480 end',
      '11 2120 480 end',
      '11 2120 480 end',
      'audio',
    ]);
    expect(sender.isActive).toBe(false);
  });

  it('sets the marker on the first packet of a digit of one frame only', () => {
    const sender = create(20, 0);
    sender.send('A');
    expect(frames(sender, 4)).toEqual([
      '12 1000 160 end marker',
      '12 1000 160 end',
      '12 1000 160 end',
      'audio',
    ]);
  });

  it('is received correctly with a third of the packets lost', () => {
    const digits = '0123456789*#ABCD';
    for (const lost of [0, 1, 2]) {
      const sender = create(100, 100);
      sender.send(digits);
      let received = '';
      const receiver = new DtmfReceiver(8000, ({ digit }) => {
        received += digit;
      });
      const out = new Uint8Array(4);
      for (let frame = 0; frame < 200; frame++) {
        const sent = sender.next(frame * 160, out);
        if (sent !== undefined && frame % 3 !== lost) receiver.receive(out, sent.timestamp, frame * 20);
      }
      expect(received).toBe(digits);
    }
  });

  it('refuses an invalid digit with all digits of its request', () => {
    const sender = create(100, 100);
    expect(() => sender.send('12x')).toThrow("'x' is not a DTMF digit");
    expect(sender.isActive).toBe(false);
    expect(() => sender.send('1'.repeat(257))).toThrow('256');
  });

  it.each([0, -1, 8200, Number.NaN])('refuses a tone of %d ms', (toneMs) => {
    expect(() => create(toneMs, 0)).toThrow('DTMF tone');
  });
});
