import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOpus } from '../../src/media/codecs/opus.ts';
import { DtmfReceiver } from '../../src/media/dtmf/receiver.ts';
import { parseRtcp } from '../../src/media/rtcp/parse.ts';
import { RtpPacketView } from '../../src/media/rtp/packet.ts';
import { SrtcpStream } from '../../src/media/srtp/srtcp.ts';
import { SrtpStream } from '../../src/media/srtp/srtp.ts';
import { parseWav } from '../../src/media/wav.ts';

const masterKey = { key: new Uint8Array(16), salt: new Uint8Array(14) };
const parameters = { suite: 'AES_CM_128_HMAC_SHA1_80', masterKey } as const;

/** Arbitrary bytes, and bytes with a valid start. */
const datagram = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .tuple(
      fc.constantFrom(0x80, 0x90, 0xa1, 0xbf),
      fc.constantFrom(0, 0x80, 200, 201, 202, 203),
      fc.uint8Array({ maxLength: 100 }),
    )
    .map(([first, second, rest]) => Uint8Array.of(first, second, ...rest)),
);
const thousand = { numRuns: 1000 };

describe('Hostile input', () => {
  it('is read as RTP within its bounds, or has a defect', () => {
    const view = new RtpPacketView();
    fc.assert(
      fc.property(datagram, (bytes) => {
        if (view.read(bytes) !== undefined) return;
        expect(view.payloadOffset + view.payloadLengthBytes).toBeLessThanOrEqual(bytes.length);
        expect(view.payload().length).toBe(view.payloadLengthBytes);
      }),
      thousand,
    );
  });

  it('never makes the RTCP, SRTP, SRTCP and DTMF parsers throw, and is never authentic', () => {
    const [srtp, srtcp, dtmf] = [
      new SrtpStream(parameters),
      new SrtcpStream(parameters),
      new DtmfReceiver(() => {}),
    ];
    fc.assert(
      fc.property(datagram, (bytes) => {
        parseRtcp(bytes);
        dtmf.receive({ ssrc: 1, sequenceNumber: 1, timestamp: 0, payload: () => bytes }, 8000, 0);
        expect(srtp.unprotect(bytes)).toBeTypeOf('string');
        expect(srtcp.unprotect(bytes)).toBeTypeOf('string');
      }),
      thousand,
    );
  });

  it('never makes Opus throw or write beyond its output', () => {
    const codec = createOpus().open();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const out = new Int16Array(1920 + 10).fill(77);
        expect(codec.decode(bytes, out.subarray(0, 1920))).toBeLessThanOrEqual(1920);
        expect([...out.subarray(1920)]).toEqual(new Array(10).fill(77));
      }),
      thousand,
    );
    codec.close();
  });

  it('is read as WAV or refused with a CallwayError', () => {
    const header = Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (rest) => {
        for (const bytes of [rest, Buffer.concat([header, rest])]) {
          try {
            parseWav(bytes);
          } catch (error) {
            expect(error).toMatchObject({ code: 'wav_invalid' });
          }
        }
      }),
      thousand,
    );
  });
});

it('Opus streams of two threads are independent', async () => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    require('tsx/cjs/api').register();
    const { createOpus } = require(workerData.module);
    const codec = createOpus().open();
    const samples = Int16Array.from({ length: 320 }, (_, n) => 9000 * Math.sin((n * workerData.cycles * 2 * Math.PI) / 320));
    const packet = new Uint8Array(1275);
    const packets = [];
    for (let n = 0; n < 300; n++) packets.push(Buffer.from(packet.subarray(0, codec.encode(samples, packet))).toString('hex'));
    parentPort.postMessage(packets.join());`;
  const module = new URL('../../src/media/codecs/opus.ts', import.meta.url).pathname;
  const encode = (cycles: number) =>
    new Promise<string>((resolve, reject) => {
      const worker = new Worker(source, { eval: true, workerData: { module, cycles } });
      worker.once('message', resolve).once('error', reject);
    });
  const alone = await encode(8);
  const [together] = await Promise.all([encode(8), encode(40)]);
  expect(together).toBe(alone);
});
