import { describe, expect, it } from 'vitest';
import {
  type CryptoAttribute,
  formatCryptoAttribute,
  parseCryptoAttribute,
  type SrtpSuite,
} from '../../../src/media/srtp/cryptoAttribute.ts';
import { deriveSessionKeys } from '../../../src/media/srtp/keyDerivation.ts';
import { Keystream } from '../../../src/media/srtp/keystream.ts';
import { ReplayWindow } from '../../../src/media/srtp/replayWindow.ts';
import { SrtcpStream } from '../../../src/media/srtp/srtcp.ts';
import { type SrtpParameters, SrtpStream } from '../../../src/media/srtp/srtp.ts';

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase();

/** RFC 3711 appendix B.3. */
const masterKey = {
  key: hex('E1F97A0D3E018BE0D64FA32C06DE4139'),
  salt: hex('0EC675AD498AFEEBB6960B3AABE6'),
};
const parameters = (suite: SrtpSuite = 'AES_CM_128_HMAC_SHA1_80'): SrtpParameters => ({ suite, masterKey });

describe('RFC 3711 appendix B', () => {
  it('B.2: the keystream of the counter mode', () => {
    const keystream = new Keystream(
      hex('2B7E151628AED2A6ABF7158809CF4F3C'),
      hex('F0F1F2F3F4F5F6F7F8F9FAFBFCFD'),
    );
    const bytes = new Uint8Array(48);
    keystream.apply(bytes, 0, 0);
    expect(toHex(bytes)).toBe(
      'E03EAD0935C95E80E166B16DD92B4EB4D23513162B02D0F72A43A2FE4A5F97AB41E95B3BB0A2E8DD477901E4FCA894C0',
    );
  });

  it('B.3: session keys', () => {
    const { rtp } = deriveSessionKeys(masterKey);
    expect(toHex(rtp.encryption)).toBe('C61E7A93744F39EE10734AFE3FF7A087');
    expect(toHex(rtp.salt)).toBe('30CBBC08863D8C85D49DB34A9AE1');
    expect(toHex(rtp.authentication)).toBe('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4');
  });
});

/** Version 2, payload type 15, sequence 0x1234, then 16 bytes of 0xab; known from libsrtp's own validation. */
const RTP = '800F1234DECAFBADCAFEBABE ABABABABABABABABABABABABABABABAB';
const SRTP = '800F1234DECAFBADCAFEBABE 4E55DC4CE79978D88CA4D215949D2402 B78D6ACC99EA179B8DBB';
/** A sender report of 12 words, most of them 0xab; SRTCP index 1. */
const RTCP = '81C8000BCAFEBABE ABABABABABABABABABABABABABABABAB';
const SRTCP = '81C8000BCAFEBABE 7128035BE487B9BDBEF89041F977A5A8 80000001 993E08CD54D6C1230798';

/** A packet in a buffer with room behind it. */
function withRoom(packet: Uint8Array, room = 32): Uint8Array {
  const buffer = new Uint8Array(packet.length + room);
  buffer.set(packet);
  return buffer;
}
const protect = (stream: SrtpStream | SrtcpStream, packet: Uint8Array) => {
  const buffer = withRoom(packet);
  return buffer.slice(0, stream.protect(buffer, packet.length));
};
const rtp = (sequence: number, ssrc = 9, payload: readonly number[] = [1, 2, 3]) =>
  Uint8Array.of(0x80, 0, sequence >> 8, sequence, 0, 0, 0, 0xa0, 0, 0, 0, ssrc, ...payload);

describe('SrtpStream', () => {
  it('protects and unprotects a known packet', () => {
    expect(toHex(protect(new SrtpStream(parameters()), hex(RTP)))).toBe(toHex(hex(SRTP)));
    const plain = new SrtpStream(parameters()).unprotect(hex(SRTP));
    expect(toHex(plain as Uint8Array)).toBe(toHex(hex(RTP)));
  });

  it('has a tag of four bytes in the other suite', () => {
    const stream = new SrtpStream(parameters('AES_CM_128_HMAC_SHA1_32'));
    expect(toHex(protect(stream, hex(RTP)))).toBe(toHex(hex(SRTP)).slice(0, 2 * 32));
    expect(stream.overheadBytes).toBe(4);
  });

  it('decrypts in place', () => {
    const bytes = hex(SRTP);
    const plain = new SrtpStream(parameters()).unprotect(bytes) as Uint8Array;
    expect(plain.buffer).toBe(bytes.buffer);
  });

  it('leaves header, contributing sources and extension readable', () => {
    // one CSRC, an extension of one word, two bytes of payload
    const packet = hex('9180000100000002000000030000000A BEDE0001 10AA0000 0102');
    const safe = protect(new SrtpStream(parameters()), packet);
    expect(toHex(safe.subarray(0, 24))).toBe(toHex(packet.subarray(0, 24)));
    expect(toHex(safe.subarray(24, 26))).not.toBe('0102');
    expect(new SrtpStream(parameters()).unprotect(safe)).toEqual(packet);
  });

  it('follows the sequence numbers over three rollovers, with loss and reordering', () => {
    const [sender, receiver] = [new SrtpStream(parameters()), new SrtpStream(parameters())];
    for (let n = 64_526; n < 64_526 + 3 * 65_536; n += 1009) {
      const second = protect(sender, rtp(n & 0xffff));
      const third = protect(sender, rtp((n + 1) & 0xffff));
      expect(receiver.unprotect(third)).toEqual(rtp((n + 1) & 0xffff));
      expect(receiver.unprotect(second)).toEqual(rtp(n & 0xffff));
    }
  });

  it('refuses replayed and old packets', () => {
    const [sender, receiver] = [new SrtpStream(parameters()), new SrtpStream(parameters())];
    const packets = Array.from({ length: 200 }, (_, n) => protect(sender, rtp(n)));
    const last = packets.at(-1) ?? new Uint8Array(0);
    expect(receiver.unprotect(last.slice())).toEqual(rtp(199));
    expect(receiver.unprotect(last.slice())).toBe('replayed');
    expect(receiver.unprotect(packets[72] ?? last)).toEqual(rtp(72));
    expect(receiver.unprotect(packets[71] ?? last)).toBe('replayed');
  });

  it('refuses any changed byte, and keeps its state', () => {
    const sender = new SrtpStream(parameters());
    const receiver = new SrtpStream(parameters());
    const safe = protect(sender, rtp(500));
    for (let at = 1; at < safe.length; at++) {
      const forged = safe.slice();
      forged[at] = (forged[at] ?? 0) ^ 0x01;
      expect(receiver.unprotect(forged)).toBe('bad_tag');
    }
    expect(receiver.unprotect(safe)).toEqual(rtp(500));
  });

  it('keeps a state for each SSRC', () => {
    const [sender, receiver] = [new SrtpStream(parameters()), new SrtpStream(parameters())];
    expect(receiver.unprotect(protect(sender, rtp(65_535, 1)))).toEqual(rtp(65_535, 1));
    expect(receiver.unprotect(protect(sender, rtp(3, 2)))).toEqual(rtp(3, 2));
    expect(receiver.unprotect(protect(sender, rtp(0, 1)))).toEqual(rtp(0, 1));
    expect(receiver.unprotect(protect(sender, rtp(4, 2)))).toEqual(rtp(4, 2));
  });

  it('keeps the states of eight SSRCs, and forgets the one unused for longest for a ninth', () => {
    const [sender, receiver] = [new SrtpStream(parameters()), new SrtpStream(parameters())];
    const sent = [0, 1, 2, 3, 4, 5, 6, 7, 0, 8].map((ssrc, n) => protect(sender, rtp(n, ssrc)));
    for (const bytes of sent) expect(receiver.unprotect(bytes.slice())).toEqual(expect.any(Uint8Array));
    const again = [...sent.toSpliced(1, 1), ...sent.slice(1, 2)];
    const refused = Array(9).fill('replayed');
    expect(again.map((bytes) => receiver.unprotect(bytes))).toEqual([...refused, rtp(1, 1)]);
  });

  it('writes a negotiated key identifier, and refuses another', () => {
    const one = { ...parameters(), keyIdentifier: { value: 66_051, lengthBytes: 4 } };
    const other = { ...parameters(), keyIdentifier: { value: 66_052, lengthBytes: 4 } };
    const safe = protect(new SrtpStream(one), rtp(1));
    expect(toHex(safe.subarray(15, 19))).toBe('00010203');
    expect(new SrtpStream(other).unprotect(safe.slice())).toBe('unknown_key');
    expect(new SrtpStream(one).unprotect(safe)).toEqual(rtp(1));
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['a header without a tag', rtp(1, 9, [])],
    ['a header that promises more', Uint8Array.of(0x8f, ...rtp(1).subarray(1), ...new Array(10).fill(0))],
  ])('refuses %s as too short', (_, bytes) => {
    expect(new SrtpStream(parameters()).unprotect(bytes)).toBe('too_short');
  });

  it('requires a whole packet and room', () => {
    const stream = new SrtpStream(parameters());
    expect(() => stream.protect(new Uint8Array(64), 11)).toThrow('whole RTP packet');
    expect(() => stream.protect(withRoom(rtp(1), 9), 15)).toThrow('no room');
  });
});

describe('SrtcpStream', () => {
  it('unprotects a known packet, and protects it as the second of its stream', () => {
    expect(new SrtcpStream(parameters()).unprotect(hex(SRTCP))).toEqual(hex(RTCP));
    const sender = new SrtcpStream(parameters());
    protect(sender, hex(RTCP));
    expect(toHex(protect(sender, hex(RTCP)))).toBe(toHex(hex(SRTCP)));
  });

  it('refuses replayed and changed packets', () => {
    const [sender, receiver] = [new SrtcpStream(parameters()), new SrtcpStream(parameters())];
    const safe = protect(sender, hex(RTCP));
    const forged = safe.slice();
    forged[9] = 0;
    expect(receiver.unprotect(forged)).toBe('bad_tag');
    expect(receiver.unprotect(safe.slice())).toEqual(hex(RTCP));
    expect(receiver.unprotect(safe)).toBe('replayed');
    expect(receiver.unprotect(new Uint8Array(21))).toBe('too_short');
  });

  it('keeps the states of eight SSRCs, and forgets the one unused for longest for a ninth', () => {
    const [sender, receiver] = [new SrtcpStream(parameters()), new SrtcpStream(parameters())];
    const report = (ssrc: number) => hex(`80C90001 0000000${ssrc}`);
    const sent = [0, 1, 2, 3, 4, 5, 6, 7, 0, 8].map((ssrc) => protect(sender, report(ssrc)));
    for (const bytes of sent) expect(receiver.unprotect(bytes.slice())).toEqual(expect.any(Uint8Array));
    const again = [...sent.toSpliced(1, 1), ...sent.slice(1, 2)];
    const refused = Array(9).fill('replayed');
    expect(again.map((bytes) => receiver.unprotect(bytes))).toEqual([...refused, report(1)]);
  });

  it('uses ten bytes of tag in both suites, and the key identifier', () => {
    const short = { ...parameters('AES_CM_128_HMAC_SHA1_32'), keyIdentifier: { value: 1, lengthBytes: 1 } };
    const stream = new SrtcpStream(short);
    expect(stream.overheadBytes).toBe(4 + 1 + 10);
    const safe = protect(stream, hex(RTCP));
    expect(new SrtcpStream({ ...short, keyIdentifier: { value: 2, lengthBytes: 1 } }).unprotect(safe)).toBe(
      'unknown_key',
    );
    expect(new SrtcpStream(short).unprotect(safe)).toEqual(hex(RTCP));
  });

  it('requires a whole packet and room', () => {
    const stream = new SrtcpStream(parameters());
    expect(() => stream.protect(new Uint8Array(64), 7)).toThrow('whole RTCP packet');
    expect(() => stream.protect(new Uint8Array(21), 8)).toThrow('no room');
  });
});

it('ReplayWindow accepts each index once, in any order within 128', () => {
  const window = new ReplayWindow();
  for (const index of [2 ** 40, 2 ** 40 - 127, 2 ** 40 + 1]) {
    expect(window.isNew(index)).toBe(true);
    window.accept(index);
    expect(window.isNew(index)).toBe(false);
  }
  expect(window.isNew(2 ** 40 - 127)).toBe(false);
});

describe('crypto attribute', () => {
  /** RFC 4568 section 9.1: sixteen bytes of key and fourteen of salt. */
  const keySalt = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
  const key = Buffer.from(keySalt, 'base64');
  const expected: CryptoAttribute = {
    tag: 1,
    suite: 'AES_CM_128_HMAC_SHA1_80',
    masterKey: { key: key.subarray(0, 16), salt: key.subarray(16) },
  };

  it.each<[string, CryptoAttribute]>([
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}`, expected],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|2^20`, expected],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|1048576 WSH=128`, expected],
    [
      `1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|2^20|1:4`,
      { ...expected, keyIdentifier: { value: 1, lengthBytes: 4 } },
    ],
    [
      `1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|66051:4`,
      { ...expected, keyIdentifier: { value: 66_051, lengthBytes: 4 } },
    ],
    [
      `2 AES_CM_128_HMAC_SHA1_32 inline:${keySalt} -FUTURE=1`,
      { ...expected, tag: 2, suite: 'AES_CM_128_HMAC_SHA1_32' },
    ],
  ])('reads %s', (line, attribute) => {
    expect(parseCryptoAttribute(line)).toEqual(attribute);
  });

  it.each([
    `1 AEAD_AES_128_GCM inline:${keySalt}`,
    `1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|2^20|1:4;inline:${keySalt}|2^20|2:4`,
    `1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt} UNENCRYPTED_SRTCP`,
    `1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt} KDR=1`,
  ])('ignores %s', (line) => {
    expect(parseCryptoAttribute(line)).toBeUndefined();
  });

  it.each([
    ['', 'tag suite'],
    ['x AES_CM_128_HMAC_SHA1_80 inline:abc', 'tag suite'],
    ['1 AES_CM_128_HMAC_SHA1_80', 'tag suite'],
    [`1 AES_CM_128_HMAC_SHA1_80 outline:${keySalt}`, 'inline'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt.slice(4)}`, '30 bytes'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt.slice(0, -1)}!`, '30 bytes'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|2^20|1:0`, 'length of 0'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|256:1`, 'does not fit'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|1:7`, 'longer than 6'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|2^20|1:4|1:4`, 'neither a lifetime'],
    [`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|soon`, 'neither a lifetime'],
  ])('refuses %s without showing a key', (line, message) => {
    expect(() => parseCryptoAttribute(line)).toThrow(message);
    expect(() => parseCryptoAttribute(line)).not.toThrow(keySalt.slice(4, 20));
  });

  it('formats what it parses', () => {
    const attribute = { ...expected, keyIdentifier: { value: 7, lengthBytes: 2 } };
    const line = formatCryptoAttribute(attribute);
    expect(line).toBe(`1 AES_CM_128_HMAC_SHA1_80 inline:${keySalt}|7:2`);
    expect(parseCryptoAttribute(line)).toEqual(attribute);
  });
});
