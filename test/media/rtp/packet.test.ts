import { describe, expect, it } from 'vitest';
import { isRtcp, RtpPacketView, writeRtpHeader } from '../../../src/media/rtp/packet.ts';

// biome-ignore format: one field a line
const everything = Uint8Array.of(
  0xb2, // version 2, padding, extension, two contributing sources
  0xe5, // marker, payload type 101
  0xff, 0xfe, // sequence number 65534
  0x80, 0x00, 0x00, 0x01, // timestamp 2^31 + 1
  0xde, 0xca, 0xfb, 0xad, // SSRC
  0x00, 0x00, 0x00, 0x07, // CSRC 7
  0xff, 0xff, 0xff, 0xff, // CSRC 2^32 - 1
  0xbe, 0xde, // extension profile
  0x00, 0x01, // one word of extension
  0x10, 0xaa, 0x00, 0x00, // that word
  0x01, 0x02, 0x03, // payload
  0x00, 0x02, // two bytes of padding, the last one counts them
);

/** Version 2, payload type 0, sequence 1, timestamp 160, SSRC 9, then the given bytes. */
const plain = (...payload: number[]) =>
  Uint8Array.of(0x80, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xa0, 0x00, 0x00, 0x00, 0x09, ...payload);

describe('RtpPacketView', () => {
  it('reads a packet with contributing sources, extension and padding', () => {
    const view = new RtpPacketView();
    expect(view.read(everything)).toBeUndefined();
    expect(view).toMatchObject({
      marker: true,
      payloadType: 101,
      sequenceNumber: 65534,
      timestamp: 0x80000001,
      ssrc: 0xdecafbad,
      payloadLengthBytes: 3,
    });
    expect([...view.payload()]).toEqual([1, 2, 3]);
  });

  it('shows the payload in place, without a copy', () => {
    const datagram = plain(0xff, 0x7f);
    const view = new RtpPacketView();
    view.read(datagram);
    expect(view.payload().buffer).toBe(datagram.buffer);
  });

  it('accepts a packet without payload', () => {
    const view = new RtpPacketView();
    expect(view.read(plain())).toBeUndefined();
    expect(view.payloadLengthBytes).toBe(0);
  });

  const patched = (bytes: Uint8Array, offset: number, value: number) => {
    const copy = bytes.slice();
    copy[offset] = value;
    return copy;
  };
  it.each([
    ['too_short', new Uint8Array(0)],
    ['too_short', plain().subarray(0, 11)],
    ['wrong_version', patched(plain(), 0, 0x40)],
    ['is_rtcp', patched(plain(), 1, 200)],
    ['bad_header_length', patched(plain(1, 2, 3), 0, 0x81)], // one CSRC, three bytes there
    ['bad_header_length', patched(plain(1, 2, 3), 0, 0x90)], // an extension without room for its header
    ['bad_header_length', patched(everything, 23, 0x09)], // nine words of extension
    ['bad_padding', patched(plain(1, 0), 0, 0xa0)], // padding of 0 bytes
    ['bad_padding', patched(plain(1, 3), 0, 0xa0)], // more padding than payload
    ['bad_padding', patched(plain(), 0, 0xa0)], // its count would be the SSRC's last byte
  ])('refuses a datagram as %s', (defect, bytes) => {
    const view = new RtpPacketView();
    expect(view.read(bytes)).toBe(defect);
  });
});

describe('writeRtpHeader', () => {
  it('wraps sequence numbers and timestamps', () => {
    const out = new Uint8Array(12);
    const header = {
      payloadType: 0,
      marker: false,
      ssrc: 9,
      sequenceNumber: 65537,
      timestamp: 2 ** 32 + 160,
    };
    writeRtpHeader(out, header);
    expect(out).toEqual(plain());
  });

  it('refuses a payload type above 127, and a buffer that is too small', () => {
    const header = { payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc: 0 };
    expect(() => writeRtpHeader(new Uint8Array(12), { ...header, payloadType: 128 })).toThrow('payload type');
    expect(() => writeRtpHeader(new Uint8Array(11), header)).toThrow('does not fit');
  });
});

it('isRtcp distinguishes RTCP from RTP on one port', () => {
  expect(isRtcp(Uint8Array.of(0x80, 200))).toBe(true);
  expect(isRtcp(Uint8Array.of(0x80, 0x80))).toBe(false); // PCMU with marker
  expect(isRtcp(Uint8Array.of(0x80))).toBe(false);
});
