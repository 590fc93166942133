import { expect, it } from 'vitest';
import { Packetizer } from '../../../src/media/rtp/packetizer.ts';

it('Packetizer numbers packets, and advances the media clock in pauses', () => {
  const packetizer = new Packetizer({ ssrc: 9, sequenceNumber: 65535, timestamp: 2 ** 32 - 160 });
  const out = new Uint8Array(14);
  out.set([0xaa, 0xbb], 12);

  expect(packetizer.write(out, 0, 2, true)).toBe(14);
  // version 2; marker, PCMU; sequence 65535; timestamp 2^32 - 160; SSRC 9; the payload untouched
  expect([...out]).toEqual([0x80, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0x60, 0, 0, 0, 9, 0xaa, 0xbb]);

  packetizer.advance(160);
  packetizer.advance(160); // a frame that was not sent
  packetizer.write(out, 101, 2, false, 7);
  // telephone-event; sequence 0; the event's own timestamp
  expect([...out.subarray(0, 8)]).toEqual([0x80, 101, 0, 0, 0, 0, 0, 7]);
  expect(packetizer).toMatchObject({ packetsSent: 2, bytesSent: 4, timestamp: 160, sequenceNumber: 1 });
});
