import { describe, expect, it } from 'vitest';
import { buildRtcp } from '../../../src/media/rtcp/build.ts';
import { parseRtcp } from '../../../src/media/rtcp/parse.ts';

const sender = {
  ntpSeconds: 0x83aa7e80,
  ntpFraction: 0x80000000,
  rtpTimestamp: 160,
  packetCount: 2,
  octetCount: 320,
};
const block = {
  ssrc: 0xdecafbad,
  fractionLost: 64,
  cumulativeLost: -2,
  extendedHighestSequence: 0x00010005,
  jitterTicks: 17,
  lastSenderReport: 0x7e808000,
  delaySinceLastSenderReport: 0x00010000,
};

// biome-ignore format: one field a line
const senderReport = [
  0x81, 200, 0x00, 0x0c, // version 2, one block; sender report; 13 words
  0x00, 0x00, 0x00, 0x09, // our SSRC
  0x83, 0xaa, 0x7e, 0x80, 0x80, 0x00, 0x00, 0x00, // NTP time
  0x00, 0x00, 0x00, 0xa0, // RTP timestamp
  0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x01, 0x40, // packets, octets
  0xde, 0xca, 0xfb, 0xad, // about whom
  0x40, 0xff, 0xff, 0xfe, // a quarter lost now, -2 in all
  0x00, 0x01, 0x00, 0x05, // extended highest sequence number
  0x00, 0x00, 0x00, 0x11, // jitter
  0x7e, 0x80, 0x80, 0x00, // last sender report
  0x00, 0x01, 0x00, 0x00, // one second since
];
// biome-ignore format: one field a line
const description = [
  0x81, 202, 0x00, 0x03, // one chunk; source description; 4 words
  0x00, 0x00, 0x00, 0x09, // our SSRC
  0x01, 0x03, 0x61, 0x40, 0x62, // CNAME "a@b"
  0x00, 0x00, 0x00, // end of items, up to the word
];
// biome-ignore format: one field a line
const bye = [
  0x81, 203, 0x00, 0x03, // one source; BYE; 4 words
  0x00, 0x00, 0x00, 0x09, // our SSRC
  0x04, 0x64, 0x6f, 0x6e, 0x65, // "done"
  0x00, 0x00, 0x00, // up to the word
];
const receiverReport = [0x80, 201, 0x00, 0x01, 0x00, 0x00, 0x00, 0x09];

describe('buildRtcp', () => {
  it('writes sender report, canonical name and BYE', () => {
    const bytes = buildRtcp({ ssrc: 9, sender, blocks: [block], cname: 'a@b', bye: { reason: 'done' } });
    expect([...bytes]).toEqual([...senderReport, ...description, ...bye]);
  });

  it('writes a receiver report when nothing was sent, and a BYE without reason', () => {
    const bytes = buildRtcp({ ssrc: 9, blocks: [], cname: 'a@b', bye: { reason: '' } });
    expect([...bytes]).toEqual([...receiverReport, ...description, 0x81, 203, 0, 1, 0, 0, 0, 9]);
  });

  it('ends the items with a null byte also when the name fills its word', () => {
    const bytes = buildRtcp({ ssrc: 9, blocks: [], cname: 'ab' });
    expect([...bytes.subarray(8)]).toEqual([0x81, 202, 0, 3, 0, 0, 0, 9, 1, 2, 0x61, 0x62, 0, 0, 0, 0]);
  });

  it('refuses too many blocks and too long texts', () => {
    expect(() => buildRtcp({ ssrc: 9, blocks: new Array(32).fill(block), cname: '' })).toThrow('31');
    expect(() => buildRtcp({ ssrc: 9, blocks: [], cname: 'x'.repeat(256) })).toThrow('canonical name');
  });
});

describe('parseRtcp', () => {
  it('parses built packets', () => {
    expect(parseRtcp(Uint8Array.from([...senderReport, ...description, ...bye]))).toEqual([
      { kind: 'sender_report', ssrc: 9, sender, blocks: [block] },
      { kind: 'source_description', chunks: [{ ssrc: 9, items: [{ type: 1, text: 'a@b' }] }] },
      { kind: 'bye', ssrcs: [9], reason: 'done' },
    ]);
  });

  it('ignores other types, and padding at the end', () => {
    // payload-specific feedback (206), padded by one word
    const feedback = [0xa1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4];
    expect(parseRtcp(Uint8Array.from([...receiverReport, ...feedback]))).toEqual([
      { kind: 'receiver_report', ssrc: 9, blocks: [] },
      { kind: 'other', type: 206 },
    ]);
  });

  it.each([
    ['too_short', [0x80, 201, 0, 0]],
    ['wrong_version', [0x40, 201, 0, 1, 0, 0, 0, 9]],
    ['wrong_version', [...receiverReport, 0x00, 202, 0, 0]],
    ['not_a_report_first', description],
    ['bad_length', senderReport.slice(0, -4)],
    ['bad_length', [...receiverReport, 0x80, 202]],
    ['bad_padding', [0xa0, 201, 0, 1, 0, 0, 0, 4, ...description]], // padding before the end
    ['bad_padding', [0xa0, 201, 0, 1, 0, 0, 0, 0]], // of no bytes
    ['bad_padding', [0xa0, 201, 0, 1, 0, 0, 0, 8]], // of more than the part
    ['bad_contents', [0x81, 201, 0, 1, 0, 0, 0, 9]], // one block, none there
    ['bad_contents', [0x82, ...senderReport.slice(1)]], // two blocks, one there
    ['bad_contents', [...receiverReport, 0x82, ...description.slice(1)]], // two chunks, one there
    ['bad_contents', [...receiverReport, 0x81, 202, 0, 2, 0, 0, 0, 9, 1, 9, 0x61, 0]], // text past the end
    ['bad_contents', [...receiverReport, 0x81, 202, 0, 2, 0, 0, 0, 9, 1, 2, 0x61, 0x61]], // no end of items
    ['bad_contents', [...receiverReport, 0x82, 203, 0, 1, 0, 0, 0, 9]], // two sources, one there
    ['bad_contents', [...receiverReport, 0x81, 203, 0, 2, 0, 0, 0, 9, 9, 0x61, 0, 0]], // reason past the end
  ])('refuses a datagram as %s', (defect, bytes) => {
    expect(parseRtcp(Uint8Array.from(bytes))).toBe(defect);
  });
});
