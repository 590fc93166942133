import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/media/codecs/codec.ts';
import { pcmu } from '../../../src/media/codecs/g711.ts';
import type { NegotiatedCodec } from '../../../src/media/mediaSession.ts';
import { RtpReceiver } from '../../../src/media/session/rtpReceiver.ts';
import { SrtpStream } from '../../../src/media/srtp/srtp.ts';
import { RtpTransport } from '../../../src/media/transport/rtpTransport.ts';
import {
  agentCall,
  type CallHarness,
  CODECS,
  EVENTS,
  FakeSocket,
  openCall,
  PEER,
  Phone,
  read,
} from '../support/callHarness.ts';
import { rootMeanSquare, tone, toneShare } from '../support/signals.ts';

const NOISE: NegotiatedCodec = { ...EVENTS, encodingName: 'CN', payloadType: 13 };
const key = {
  tag: 1,
  suite: 'AES_CM_128_HMAC_SHA1_80' as const,
  masterKey: { key: new Uint8Array(16), salt: new Uint8Array(14) },
};
/** The most that a UDP datagram has after an RTP header. */
const MAX_PAYLOAD_BYTES = 65_507 - 12;

/** A packet of any header, with any payload; its numbers are relative to those of the one before. */
const step = fc.record({
  firstByte: fc.constantFrom(0x80, 0x80, 0x80, 0xa0, 0x90, 0x8f, 0xbf),
  payloadType: fc.constantFrom(0, 8, 9, 97, 101, 13, 111),
  marker: fc.constantFrom(0, 0x80),
  sequenceStep: fc.constantFrom(1, 1, 1, 0, 2, 50, 30_000, -1, -200),
  ticks: fc.constantFrom(160, 160, 0, 960, -8000, 2 ** 31, 123_456_789),
  ssrc: fc.constantFrom(1, 1, 1, 2),
  lengthBytes: fc.oneof(
    fc.integer({ min: 0, max: 400 }),
    fc.constantFrom(1024, 1472, 9000, MAX_PAYLOAD_BYTES),
  ),
  content: fc.uint8Array({ minLength: 1, maxLength: 64 }),
});

/** Delivers a peer's packets, protected where the call uses SRTP. */
function delivery(call: CallHarness, isSecure: boolean): (packet: Uint8Array) => void {
  const stream = new SrtpStream(key);
  return (packet) => {
    const room = new Uint8Array(packet.length + stream.overheadBytes);
    room.set(packet);
    call.rtp.deliver(isSecure ? room.subarray(0, stream.protect(room, packet.length)) : packet);
  };
}

describe.each(Object.values(CODECS))('A call with $encodingName', (codec) => {
  it.each(['RTP', 'SRTP'])(
    'goes on after any packets over %s, and hears speech after them',
    async (profile) => {
      const isSecure = profile === 'SRTP';
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const call = await openCall();
        const received = [codec, ...Object.values(CODECS), EVENTS, NOISE];
        call.connect({ codec, received, ...(isSecure ? { srtp: { local: key, remote: key } } : {}) });
        const link = await call.startStream();
        const deliver = delivery(call, isSecure);
        const phone = new Phone(codec, tone(16_000, 1000, 48_000));
        for (const {
          firstByte,
          payloadType,
          marker,
          sequenceStep,
          ticks,
          ssrc,
          lengthBytes,
          content,
        } of steps) {
          phone.ssrc = ssrc;
          phone.sequenceNumber = (phone.sequenceNumber + sequenceStep - 1) & 0xffff;
          phone.timestamp = (phone.timestamp + ticks) >>> 0;
          const packet = phone.packet(
            payloadType,
            Buffer.alloc(Math.max(lengthBytes, isSecure ? 60 : 0), content),
          );
          packet[0] = isSecure ? firstByte & 0xef : firstByte;
          packet[1] = payloadType | marker;
          call.ticks(1, () => deliver(packet));
        }
        phone.ssrc = 77;
        call.ticks(150, () => deliver(phone.next()));
        expect(rootMeanSquare(Int16Array.from(link.audio.slice(-800)))).toBeGreaterThan(1000);
        const { counters } = await call.audio.close();
        expect(counters?.failedPackets).toBe(0);
      });
      await fc.assert(property, { numRuns: 15 });
    },
  );
});

it.each(
  [CODECS.PCMU, CODECS.PCMA, CODECS.G722, CODECS.L16].flatMap((codec) => [
    { ...codec, ms: 128 },
    { ...codec, ms: 500 },
    { ...codec, ms: 1000 },
  ]),
)('Packets of $ms ms of $encodingName are heard whole', async ({ ms, ...codec }) => {
  const { call, link } = await agentCall({ codec });
  const phone = new Phone(codec, new Int16Array(480));
  const { sampleRateHz, maxBytesPer20Ms } = phone.codec.format;
  const samples = tone(sampleRateHz, 1000, (sampleRateHz * ms) / 1000);
  call.ticks(200, (index) => {
    if ((index * 20) % ms >= 20) return;
    const payload = new Uint8Array((maxBytesPer20Ms * ms) / 20);
    phone.codec.encode(samples, payload);
    call.rtp.deliver(phone.packet(codec.payloadType, payload));
    phone.timestamp = (phone.timestamp + (ms * codec.rtpClockRateHz) / 1000) % 2 ** 32;
  });
  const heard = Int16Array.from(link.audio).slice(-link.sampleRateHz);
  expect(toneShare(heard, link.sampleRateHz, 1000)).toBeGreaterThan(0.9);
});

it('One packet of eight seconds among others does not keep those from being heard', async () => {
  const { call, link } = await agentCall();
  const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
  call.ticks(50, () => call.rtp.deliver(phone.next()));
  call.rtp.deliver(phone.packet(0, new Uint8Array(MAX_PAYLOAD_BYTES)));
  call.ticks(100, () => call.rtp.deliver(phone.next()));
  expect(toneShare(Int16Array.from(link.audio).slice(-8000), 8000, 1000)).toBeGreaterThan(0.9);
});

describe('A failure in the handling of a packet', () => {
  it('leaves a silent frame and a count', () => {
    const codec = pcmu.open();
    let fails = true;
    const failing: Codec = {
      ...codec,
      decode(payload, out) {
        if (fails) throw new Error('a decoder failed');
        return codec.decode(payload, out);
      },
    };
    const receiver = new RtpReceiver(failing, () => {});
    receiver.formats = new Map([[0, { kind: 'speech', codec: pcmu }]]);
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    const frame = new Int16Array(160).fill(7);
    for (let index = 1; index < 50; index++) {
      fails = index < 20;
      receiver.receive(read(phone.next()), index * 20, false);
      receiver.pull(index * 20, frame);
      if (index === 19) expect(frame).toEqual(new Int16Array(160));
    }
    expect(receiver.failures).toBeGreaterThan(0);
    expect(rootMeanSquare(frame)).toBeGreaterThan(1000);
  });

  it('does not leave the socket’s listener, where it would end the thread', () => {
    const sockets = { rtp: new FakeSocket(30_000), rtcp: new FakeSocket(30_001) };
    const fail = () => {
      throw new Error('a receiver failed');
    };
    const transport = new RtpTransport({
      sockets,
      latching: 'nat',
      nowMs: () => 0,
      onRtp: fail,
      onRtcp: fail,
    });
    transport.connect({ ...PEER, rtcpPort: PEER.port + 1 }, new Set([0]), undefined);
    sockets.rtp.deliver(new Phone(CODECS.PCMU, new Int16Array(160)).next());
    sockets.rtcp.deliver(Uint8Array.of(0x80, 200));
    expect(transport.drops.failed).toBe(2);
  });
});
