import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRtcp } from '../../../src/media/rtcp/parse.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { rootMeanSquare, segmentalSnrDb, tone, tonePower } from '../signals.ts';
import { CODECS, openCall, PEER, Phone, read } from './harness.ts';

const share = (samples: Int16Array, rateHz: number, frequencyHz: number) =>
  tonePower(samples, rateHz, frequencyHz) / (2 * rootMeanSquare(samples) ** 2);

describe('a call’s audio', () => {
  it.each([
    ['PCMU', 8000, 160],
    ['PCMA', 8000, 160],
    // 16 kHz of sound, and yet the clock counts 8 kHz (RFC 3551 section 4.5.2).
    ['G722', 16_000, 160],
    ['opus', 16_000, 960],
    ['L16', 24_000, 480],
  ] as const)('carries tones both ways in %s', async (name, rateHz, ticksPerFrame) => {
    const call = await openCall();
    const codec = CODECS[name];
    call.connect({ codec });
    const link = await call.bridge();
    const bridgeRateHz = rateHz === 8000 ? 8000 : 16_000;
    expect(link.sampleRateHz).toBe(bridgeRateHz);
    const phone = new Phone(codec, tone(rateHz, 1000, rateHz));
    link.receiver.audio(tone(bridgeRateHz, 600, 2 * bridgeRateHz));
    call.ticks(100, () => call.rtp.deliver(phone.next()));

    const heard = Int16Array.from(link.audio);
    expect(heard.length).toBe(2 * bridgeRateHz);
    expect(share(heard.slice(bridgeRateHz), bridgeRateHz, 1000)).toBeGreaterThan(0.95);
    const played = phone.hear(call.rtp.sent);
    expect(share(played.slice(rateHz), rateHz, 600)).toBeGreaterThan(0.95);
    expect(rootMeanSquare(played.slice(rateHz))).toBeGreaterThan(6000);

    const packets = call.rtp.sent.map(({ bytes }) => read(bytes));
    expect(packets.length).toBe(100);
    expect(packets.map(({ marker }) => marker)).toEqual(packets.map((_, index) => index === 0));
    const steps = packets
      .slice(1)
      .map((packet, n) => [
        (packet.sequenceNumber - (packets[n]?.sequenceNumber ?? 0)) & 0xffff,
        (packet.timestamp - (packets[n]?.timestamp ?? 0)) >>> 0,
      ]);
    expect(new Set(steps.map(String))).toEqual(new Set([`1,${ticksPerFrame}`]));
  });

  it('sends silence while nobody speaks, and to where signalling says before anything came', async () => {
    const call = await openCall();
    call.connect();
    call.ticks(3);
    expect(call.rtp.sent.map(({ to }) => to)).toEqual([PEER, PEER, PEER]);
    expect(call.rtp.sent.every(({ bytes }) => bytes.subarray(12).every((byte) => byte === 0xff))).toBe(true);
  });

  it('gives the engine every 20 ms of the caller, silence too, with the count of samples as a clock', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    call.ticks(5);
    expect(link.positions).toEqual([0, 160, 320, 480, 640]);
    expect(link.audio).toEqual(new Array(800).fill(0));
  });

  it('tells of the first packet each way, once', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    call.ticks(2);
    expect(call.events).toEqual([]);
    const startMs = call.clock.now();
    call.ticks(5, (index) => {
      call.rtp.deliver(phone.next());
      if (index === 2) link.receiver.audio(tone(8000, 500, 320));
    });
    expect(call.events).toEqual([
      { name: 'firstPacket', value: { atMs: startMs } },
      { name: 'firstAgentAudio', value: { atMs: startMs + 60 } },
    ]);
  });
});

describe('marks and clears', () => {
  it('answers a mark when its audio has left, not before', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    link.receiver.audio(new Int16Array(400).fill(1000));
    link.receiver.mark('half');
    link.receiver.audio(new Int16Array(400).fill(1000));
    link.receiver.mark('all');
    call.ticks(2);
    expect(link.said).toEqual([]);
    call.ticks(1);
    const position = { receivedSamples: 480, bufferDelayMs: 0 };
    // A frame is the grain: at the third the first chunk's 400 samples are out, and 80 more.
    expect(link.said).toEqual([
      { mark: { name: 'half', outcome: 'played', playedSamples: 480, ...position } },
    ]);
    expect(call.rtp.sent.length).toBe(3);
    call.ticks(2);
    expect(link.said[1]).toEqual({
      mark: {
        name: 'all',
        outcome: 'played',
        playedSamples: 800,
        receivedSamples: 800,
        bufferDelayMs: 0,
      },
    });
  });

  it('stops within the frame at a clear, and says what had sounded', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    link.receiver.audio(tone(8000, 700, 8000));
    link.receiver.mark('end');
    call.ticks(10);
    link.receiver.clear();
    call.ticks(2);
    const [last, after] = call.rtp.sent.slice(10).map((packet) => phone.hear([packet]));
    // 5 ms of fading, then nothing.
    expect(Math.max(...(last?.subarray(40) ?? [1]))).toBe(0);
    expect(Math.max(...(after ?? [1]))).toBe(0);
    expect(link.said).toEqual([
      {
        mark: {
          name: 'end',
          outcome: 'cleared',
          playedSamples: 1600,
          receivedSamples: 1760,
          bufferDelayMs: 0,
        },
      },
      { cleared: { playedSamples: 1640, receivedSamples: 1760, bufferDelayMs: 0 } },
    ]);
  });

  it('lets what an engine said before it went away sound to its end, and takes a new one', async () => {
    const call = await openCall();
    call.connect();
    const first = await call.bridge();
    first.receiver.audio(new Int16Array(1600).fill(3000));
    call.ticks(2);
    first.receiver.closed({ how: 'broken', code: 1006, reason: '' });
    expect(call.told('streamClosed')).toEqual([{ how: 'broken', code: 1006, reason: '' }]);
    call.ticks(3);
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    expect(Math.min(...phone.hear(call.rtp.sent))).toBeGreaterThan(2900);
    expect(first.positions.length).toBe(2);
    const second = await call.bridge();
    call.ticks(2);
    expect(second.positions).toEqual([0, 160]);
  });

  it('bounds what an engine may send ahead, and counts the rest', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    for (let n = 0; n < 13; n++) link.receiver.audio(new Int16Array(80_000));
    call.ticks(1);
    const { counters } = await call.audio.close();
    expect(counters?.agentSamplesDropped).toBe(80_000);
  });

  it('sends on, with silence where an engine that is too slow leaves holes, and counts them', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const speech = new Int16Array(160).fill(3000);
    // 20 ms in every 60, twenty times; then all is said, and nothing more comes.
    call.ticks(60, (index) => index % 3 === 0 && link.receiver.audio(speech.slice()));
    link.receiver.mark('end');
    call.ticks(20);
    const packets = call.rtp.sent.map(({ bytes }) => read(bytes));
    const begin = packets[0] as (typeof packets)[number];
    expect(packets.map(({ sequenceNumber, timestamp }) => [sequenceNumber, timestamp])).toEqual(
      packets.map((_, n) => [(begin.sequenceNumber + n) & 0xffff, (begin.timestamp + 160 * n) % 2 ** 32]),
    );
    expect(packets.map(({ marker }) => marker)).toEqual(packets.map((_, n) => n === 0));
    const heard = new Phone(CODECS.PCMU, speech).hear(call.rtp.sent);
    const loudness = Array.from({ length: 80 }, (_, n) =>
      rootMeanSquare(heard.subarray(n * 160, (n + 1) * 160)) > 2900 ? 'speech' : 'silence',
    );
    expect(loudness).toEqual(loudness.map((_, n) => (n % 3 === 0 && n < 60 ? 'speech' : 'silence')));
    const { counters, packetsSent } = await call.audio.close();
    // Between twenty pieces; what follows the last of them is its end.
    expect([counters?.playoutUnderruns, packetsSent, counters?.packetsDue]).toEqual([19, 80, 80]);
  });

  it('adds up the holes that one engine after the other has left', async () => {
    const call = await openCall();
    call.connect();
    for (let n = 0; n < 2; n++) {
      const link = await call.bridge();
      call.ticks(3, (index) => index !== 1 && link.receiver.audio(new Int16Array(160).fill(3000)));
      link.receiver.closed({ how: 'broken', code: 1006, reason: '' });
    }
    expect((await call.audio.close()).counters?.playoutUnderruns).toBe(2);
  });

  it('hears what an engine says before its connection is known here', async () => {
    const call = await openCall({
      connectStream: async ({ sampleRateHz }, receiver) => {
        receiver.audio(new Int16Array(320).fill(2000));
        receiver.mark('early');
        return Object.assign(link, { sampleRateHz, receiver });
      },
    });
    const { FakeLink } = await import('./harness.ts');
    const link = new FakeLink(8000, {} as never);
    call.connect();
    await call.audio.startStream({
      url: 'ws://engine.test/',
      dialect: 'callway',
      streamId: 's',
      callId: 'c',
      customParameters: {},
      canReconnect: false,
    });
    call.ticks(2);
    expect(link.said).toMatchObject([{ mark: { name: 'early', outcome: 'played', playedSamples: 320 } }]);
  });
});

describe('an engine that is lost', () => {
  const BROKEN = { how: 'broken', code: 1006, reason: '' } as const;
  const words = (link: { readonly sampleRateHz: number }) => ({
    waiting: tone(link.sampleRateHz, 600, link.sampleRateHz),
    apology: tone(link.sampleRateHz, 900, link.sampleRateHz / 2),
  });
  const said = (phone: Phone, call: { readonly rtp: { readonly sent: readonly { bytes: Uint8Array }[] } }) =>
    phone.hear(call.rtp.sent.slice(-50));

  it('is stood in for by the words that it left, until another one speaks', async () => {
    const call = await openCall();
    call.connect();
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    const first = await call.bridge({ canReconnect: true });
    first.receiver.failoverPrompts(words(first));
    call.ticks(50);
    expect(rootMeanSquare(said(phone, call))).toBeLessThan(50);
    first.receiver.closed(BROKEN);
    call.ticks(100);
    expect(share(said(phone, call).slice(0, 4000), 8000, 600)).toBeGreaterThan(0.9);
    const second = await call.bridge({ canReconnect: true });
    second.receiver.audio(tone(8000, 1500, 8000));
    call.ticks(50);
    expect(share(said(phone, call), 8000, 1500)).toBeGreaterThan(0.9);
    call.ticks(500);
    expect(rootMeanSquare(said(phone, call))).toBeLessThan(50);
    expect(call.told('streamClosed')).toEqual([BROKEN]);
  });

  it('is stood in for by a tone where it was never reached', async () => {
    const connectStream = () => Promise.reject(new Error('nobody listens there'));
    const call = await openCall({ connectStream });
    call.connect();
    await expect(call.bridge({ canReconnect: true })).rejects.toThrow('nobody listens there');
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    call.ticks(50);
    const tail = said(phone, call).subarray(5600, 7200);
    expect(share(Int16Array.from(tail), 8000, 425)).toBeGreaterThan(0.5);
    await expect(call.audio.playApology()).resolves.toBeUndefined();
  });

  it('leaves silence where nobody may be sought in its place', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge({ canReconnect: false });
    link.receiver.failoverPrompts(words(link));
    link.receiver.closed(BROKEN);
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    call.ticks(100);
    expect(rootMeanSquare(phone.hear(call.rtp.sent))).toBeLessThan(10);
  });

  it('is apologised for in its own words, and who waits for their end is told, whatever comes', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge({ canReconnect: true });
    link.receiver.failoverPrompts(words(link));
    link.receiver.closed(BROKEN);
    let isOver = false;
    const over = call.audio.playApology().then(() => {
      isOver = true;
    });
    const phone = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    call.ticks(24);
    await Promise.resolve();
    expect(isOver).toBe(false);
    call.ticks(1);
    await over;
    expect(share(phone.hear(call.rtp.sent), 8000, 900)).toBeGreaterThan(0.9);
    const never = call.audio.playApology();
    await call.audio.close();
    await never;
    await expect(call.audio.playApology()).rejects.toMatchObject({ code: 'call_ended' });
  });
});

describe('an engine that is slow', () => {
  it('gets the last second when it is back, and memory has not grown', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    call.ticks(2);
    link.bufferedBytes = 1_000_000;
    call.ticks(80);
    expect(link.positions.length).toBe(2);
    link.bufferedBytes = 0;
    call.ticks(1);
    expect(link.positions.length).toBe(2 + 51);
    // The count goes on without a hole: it is what the engine counts, too.
    expect(link.positions.at(-1)).toBe(52 * 160);
    const { counters } = await call.audio.close();
    expect(counters?.callerFramesDropped).toBe(30);
  });
});

describe('keys', () => {
  it('tells of a key that the peer pressed, once, when it was released', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    const start = phone.timestamp;
    for (const [flags, duration] of [
      [0x0a, 160],
      [0x0a, 320],
      [0x8a, 480],
      [0x8a, 480],
      [0x8a, 480],
    ] as const) {
      // Event 5, end flag and volume, duration in ticks.
      const payload = Uint8Array.of(5, flags, duration >> 8, duration & 0xff);
      call.ticks(1, () => call.rtp.deliver(phone.packet(101, payload, start)));
      phone.advance();
    }
    expect(call.told('dtmf')).toEqual([{ digit: '5', durationMs: 60 }]);
    expect(link.said).toEqual([{ digit: '5', durationMs: 60 }]);
  });

  it('tells of keys that come by signalling, and of none twice', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    call.audio.receiveDtmf({ digit: '7', durationMs: 160 }, 'signalling');
    call.audio.receiveDtmf({ digit: '7', durationMs: 100 }, 'rtp');
    call.audio.receiveDtmf({ digit: '8', durationMs: 160 }, 'signalling');
    expect(link.said).toEqual([
      { digit: '7', durationMs: 160 },
      { digit: '8', durationMs: 160 },
    ]);
  });

  it('sends keys in place of audio, which waits meanwhile', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    link.receiver.audio(new Int16Array(8000).fill(1000));
    link.receiver.mark('end');
    let isOut = false;
    call.ticks(2);
    const sending = call.audio.sendDtmf('1#').then(() => {
      isOut = true;
    });
    call.ticks(60);
    await sending;
    expect(isOut).toBe(true);
    const packets = call.rtp.sent.map(({ bytes }) => read(bytes));
    const events = packets.filter(({ payloadType }) => payloadType === 101);
    expect(events.map((packet) => packet.payload()[0])).toEqual([...Array(7).fill(1), ...Array(7).fill(11)]);
    // 62 ticks, of which 14 were keys: 48 of the engine's 50 frames are out.
    expect(link.said).toEqual([]);
    call.ticks(2);
    expect(link.said).toMatchObject([{ mark: { name: 'end', playedSamples: 8000 } }]);
  });

  it('says when keys cannot be sent', async () => {
    const call = await openCall();
    expect(() => call.audio.sendDtmf('1')).toThrow('not connected');
    const { remote, codec } = { remote: { ...PEER, rtcpPort: 4001 }, codec: CODECS.PCMU };
    call.audio.connect({ remote, codec, packetDurationMs: 20, direction: 'sendrecv' });
    expect(() => call.audio.sendDtmf('1')).toThrow('takes no DTMF digits');
    call.connect();
    expect(() => call.audio.sendDtmf('1x')).toThrow("'x' is not a DTMF digit");
    const waiting = call.audio.sendDtmf('123');
    const refused = expect(waiting).rejects.toThrow('the call has ended');
    await call.audio.close();
    await refused;
  });
});

describe('what comes to the port', () => {
  it('latches to where audio comes from, and refuses strangers', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const nat = { address: '198.51.100.9', port: 61_000 };
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    const stranger = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    const fromBoth = () => {
      call.rtp.deliver(phone.next(), nat);
      call.rtp.deliver(stranger.next(), { address: '203.0.113.66', port: 4000 });
    };
    call.ticks(99, fromBoth);
    // The signalled address may still come.
    expect(call.rtp.filter).toBeUndefined();
    call.ticks(2, fromBoth);
    expect(call.rtp.sent.at(-1)?.to).toEqual(nat);
    expect(call.rtp.filter).toEqual(nat);
    expect(share(Int16Array.from(link.audio.slice(8000)), 8000, 1000)).toBeGreaterThan(0.95);
    const { counters } = await call.audio.close();
    expect(counters?.foreignSourcePackets).toBe(101);
  });

  it('is not kept from a source that has moved by the last packets of the old one', async () => {
    const call = await openCall();
    call.connect();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(50, () => call.rtp.deliver(phone.next()));
    const moved = { address: '192.0.2.8', port: 5000 };
    call.connect({ remote: { ...moved, rtcpPort: 5001 } });
    call.rtp.deliver(phone.next());
    call.ticks(1, () => call.rtp.deliver(phone.next(), moved));
    call.rtp.deliver(phone.next());
    call.ticks(1);
    expect(call.rtp.sent.at(-1)?.to).toEqual(moved);
    expect(call.rtp.filter).toEqual(moved);
    expect(call.rtcp.filter).toEqual({ ...moved, port: 5001 });
    expect((await call.audio.close()).counters?.foreignSourcePackets).toBe(1);
  });

  it('opens to others when the source has gone silent, and follows it', async () => {
    const call = await openCall();
    call.connect();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    expect(call.rtp.filter).toEqual(PEER);
    call.ticks(150);
    expect(call.rtp.filter).toBeUndefined();
    const moved = { address: '198.51.100.9', port: 61_000 };
    call.ticks(3, () => call.rtp.deliver(phone.next(), moved));
    expect(call.rtp.sent.at(-1)?.to).toEqual(moved);
  });

  it('follows a source that changes its SSRC', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(50, () => call.rtp.deliver(phone.next()));
    Object.assign(phone, { ssrc: 0x9999, sequenceNumber: 7, timestamp: 12 });
    call.ticks(50, () => call.rtp.deliver(phone.next()));
    expect(share(Int16Array.from(link.audio.slice(-4000)), 8000, 1000)).toBeGreaterThan(0.95);
  });

  it('counts rubbish and a flood, and goes on', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(100, () => {
      call.rtp.deliver(phone.next());
      call.rtp.deliver(Uint8Array.of(0x80, 0));
      call.rtp.deliver(new Uint8Array(200));
      call.rtp.deliver(phone.packet(77, new Uint8Array(160)));
      phone.sequenceNumber--;
    });
    for (let n = 0; n < 1000; n++) call.rtp.deliver(new Uint8Array(200));
    // The peer's own packet of that tick is lost with the flood; the next ones are not.
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    expect(share(Int16Array.from(link.audio.slice(8000, 16_000)), 8000, 1000)).toBeGreaterThan(0.95);
    const { counters, quality: figures } = await call.audio.close();
    expect(counters).toMatchObject({ malformedPackets: 250, unknownPayloadTypes: 100, floodedPackets: 951 });
    expect(figures).toMatchObject({ packetsReceived: 108, packetsLost: 1 });
  });

  it('says that the peer is silent, once each time, and not while it is on hold', async () => {
    const call = await openCall({ timeoutMs: 1000 });
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.connect();
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    call.ticks(100);
    expect(call.told('mediaTimeout')).toEqual([{ forMs: 1000 }]);
    call.ticks(1, () => call.rtp.deliver(phone.next()));
    call.ticks(60);
    expect(call.told('mediaTimeout').length).toBe(2);
    call.connect({ direction: 'inactive' });
    call.ticks(200);
    expect(call.told('mediaTimeout').length).toBe(2);
    call.connect();
    call.ticks(49);
    expect(call.told('mediaTimeout').length).toBe(2);
    call.ticks(2);
    expect(call.told('mediaTimeout').length).toBe(3);
  });
});

describe('a call that is negotiated anew', () => {
  it('sends nothing while it is held, keeps the engine’s words, and its media time goes on', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    link.receiver.audio(new Int16Array(800).fill(1000));
    link.receiver.mark('end');
    call.ticks(2);
    call.connect({ direction: 'recvonly' });
    call.ticks(100);
    expect(call.rtp.sent.length).toBe(2);
    expect(link.said).toEqual([{ isHeld: true }]);
    expect(link.positions.length).toBe(102);
    call.connect();
    call.ticks(3);
    expect(link.said.slice(1)).toMatchObject([
      { isHeld: false },
      { mark: { name: 'end', playedSamples: 800 } },
    ]);
    const [, before, after] = call.rtp.sent.map(({ bytes }) => read(bytes));
    expect(((after?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0).toBe(101 * 160);
    expect(after?.marker).toBe(true);
  });

  it('tells an engine that comes while it is held', async () => {
    const call = await openCall();
    call.connect({ direction: 'inactive' });
    const link = await call.bridge();
    expect(link.said).toEqual([{ isHeld: true }]);
  });

  it('goes on with another codec, address and port, and adds up what was before', async () => {
    const call = await openCall();
    call.connect();
    const link = await call.bridge();
    const narrow = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(50, () => call.rtp.deliver(narrow.next()));
    const elsewhere = { address: '198.51.100.20', port: 5000 };
    call.connect({ codec: CODECS.G722, remote: { ...elsewhere, rtcpPort: 5001 } });
    call.ticks(1);
    expect(call.rtp.sent.at(-1)?.to).toEqual(elsewhere);
    const wide = new Phone(CODECS.G722, tone(16_000, 1000, 16_000));
    link.receiver.audio(tone(8000, 600, 8000));
    call.ticks(50, () => call.rtp.deliver(wide.next(), elsewhere));
    expect(link.audio.length).toBe(101 * 160);
    expect(share(Int16Array.from(link.audio.slice(-4000)), 8000, 1000)).toBeGreaterThan(0.95);
    expect(share(wide.hear(call.rtp.sent).slice(-8000), 16_000, 600)).toBeGreaterThan(0.9);
    const { quality: figures, packetsSent } = await call.audio.close();
    // The first packet of each source only proves that it is one.
    expect(figures).toMatchObject({ codec: 'G722', packetsReceived: 98 });
    expect(packetsSent).toBe(101);
  });

  it('keeps its stream when only the direction changes', async () => {
    const call = await openCall();
    call.connect();
    call.ticks(2);
    call.connect();
    call.ticks(2);
    const packets = call.rtp.sent.map(({ bytes }) => read(bytes));
    expect(new Set(packets.map(({ ssrc }) => ssrc)).size).toBe(1);
    expect(packets.map(({ marker }) => marker)).toEqual([true, false, false, false]);
  });

  it('refuses an unsupported codec', async () => {
    const call = await openCall();
    const codec = { encodingName: 'GSM', rtpClockRateHz: 8000, channels: 1, payloadType: 3 };
    expect(() => call.connect({ codec })).toThrow('GSM/8000/1 is not supported');
  });
});

it('feeds a Twilio bot at 8 kHz whatever the codec', async () => {
  const call = await openCall();
  call.connect({ codec: CODECS.G722 });
  const link = await call.bridge({ dialect: 'twilio' });
  expect(link.sampleRateHz).toBe(8000);
  const phone = new Phone(CODECS.G722, tone(16_000, 1000, 16_000));
  link.receiver.audio(tone(8000, 600, 16_000));
  call.ticks(100, () => call.rtp.deliver(phone.next()));
  expect(link.audio.length).toBe(16_000);
  expect(share(Int16Array.from(link.audio.slice(8000)), 8000, 1000)).toBeGreaterThan(0.95);
  expect(share(phone.hear(call.rtp.sent).slice(16_000), 16_000, 600)).toBeGreaterThan(0.95);
});

describe('RTCP', () => {
  it('reports by schedule, answers the peer’s reports, and says goodbye', async () => {
    const call = await openCall();
    call.connect();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(500, () => call.rtp.deliver(phone.next()));
    expect(call.rtcp.sent.length).toBeGreaterThanOrEqual(1);
    expect(call.rtcp.sent.length).toBeLessThanOrEqual(5);
    expect(call.rtcp.sent[0]?.to).toEqual({ address: PEER.address, port: PEER.port + 1 });
    await call.audio.close();
    const parts = call.rtcp.sent.map(({ bytes }) => parseRtcp(bytes));
    const [ours] = call.rtp.sent.map(({ bytes }) => read(bytes));
    expect(parts[0]).toMatchObject([
      { kind: 'sender_report', ssrc: ours?.ssrc, blocks: [{ ssrc: phone.ssrc, fractionLost: 0 }] },
      { kind: 'source_description' },
    ]);
    expect(parts.at(-1)).toMatchObject([{}, {}, { kind: 'bye', ssrcs: [ours?.ssrc] }]);
    expect(call.rtp.isClosed && call.rtcp.isClosed).toBe(true);
  });

  it('goes over the port of RTP where the peer wants it so', async () => {
    const call = await openCall();
    call.connect({ remote: { ...PEER, rtcpPort: PEER.port } });
    call.ticks(1);
    await call.audio.close();
    expect(call.rtcp.sent).toEqual([]);
    expect(parseRtcp(call.rtp.sent.at(-1)?.bytes ?? new Uint8Array())).toMatchObject([
      {},
      {},
      { kind: 'bye' },
    ]);
  });
});

describe('SRTP', () => {
  const key = (fill: number) => ({
    tag: 1,
    suite: 'AES_CM_128_HMAC_SHA1_80' as const,
    masterKey: { key: new Uint8Array(16).fill(fill), salt: new Uint8Array(14).fill(fill) },
  });

  it('is spoken both ways, and nothing else is taken', async () => {
    const { SrtpStream } = await import('../../../src/media/srtp/srtp.ts');
    const call = await openCall();
    call.connect({ srtp: { local: key(1), remote: key(2) } });
    const link = await call.bridge();
    link.receiver.audio(tone(8000, 600, 16_000));
    const [phoneOut, phoneIn] = [new SrtpStream(key(2)), new SrtpStream(key(1))];
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(100, () => {
      const plain = phone.next();
      const room = new Uint8Array(plain.length + phoneOut.overheadBytes);
      room.set(plain);
      phoneOut.protect(room, plain.length);
      call.rtp.deliver(room);
      call.rtp.deliver(plain);
    });
    expect(share(Int16Array.from(link.audio.slice(8000)), 8000, 1000)).toBeGreaterThan(0.95);
    const opened = call.rtp.sent.map(({ bytes }) => {
      const packet = phoneIn.unprotect(bytes);
      if (typeof packet === 'string') throw new Error(packet);
      return { bytes: packet };
    });
    expect(share(phone.hear(opened).slice(8000), 8000, 600)).toBeGreaterThan(0.95);
    // The same keys again, as a re-INVITE has them, keep their state.
    call.connect({ srtp: { local: key(1), remote: key(2) } });
    const { counters } = await call.audio.close();
    expect(counters?.unauthenticPackets).toBe(100);
  });
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The one that the listing itself was read by.
      return [];
    }
  });
}

describe('a recording', () => {
  it('has the caller left and the agent right, each at its time', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'deep', 'call.wav');
    call.connect();
    const link = await call.bridge();
    await call.audio.startRecording(path);
    const source = tone(8000, 1000, 8000);
    const phone = new Phone(CODECS.PCMU, source);
    const agent = tone(8000, 600, 8000);
    call.ticks(175, (index) => {
      call.rtp.deliver(phone.next());
      if (index === 50) link.receiver.audio(agent);
    });
    const { recording } = await call.audio.close();
    expect(recording).toEqual({ path, durationMs: 3500, lengthBytes: 44 + 3.5 * 8000 * 4 });
    const file = parseWav(readFileSync(path));
    expect(file).toMatchObject({ sampleRateHz: 8000, channels: 2 });
    const [left, right] = [pickChannel(file, 0), pickChannel(file, 1)];
    expect([...left]).toEqual(link.audio);
    expect(share(left.slice(8000), 8000, 1000)).toBeGreaterThan(0.95);
    expect(rootMeanSquare(right.slice(0, 8000))).toBe(0);
    expect([...right.slice(8000, 16_000)]).toEqual([...agent]);
    expect(rootMeanSquare(right.slice(16_000))).toBe(0);
    // What the caller got is what the file says, but for the companding.
    expect(
      segmentalSnrDb(right.slice(8000, 16_000), phone.hear(call.rtp.sent).slice(8000, 16_000), 160),
    ).toBeGreaterThan(30);
  });

  it('keeps true time when the thread stood still', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'call.wav');
    call.connect();
    const link = await call.bridge();
    await call.audio.startRecording(path);
    call.ticks(10);
    call.clock.advance(220);
    call.audio.tick({ deadlineMs: call.clock.monotonicMs() - 20, lateMs: 20, skippedTicks: 10 });
    expect(link.positions.length).toBe(21);
    const { recording, counters, packetsSent } = await call.audio.close();
    expect(recording?.durationMs).toBe(420);
    expect({ packetsSent, packetsDue: counters?.packetsDue }).toEqual({ packetsSent: 11, packetsDue: 21 });
    const [before, after] = call.rtp.sent.slice(9).map(({ bytes }) => read(bytes));
    expect(((after?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0).toBe(11 * 160);
  });

  it('keeps its rate when the codec changes', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'call.wav');
    call.connect();
    const link = await call.bridge();
    await call.audio.startRecording(path);
    call.ticks(50);
    call.connect({ codec: CODECS.G722 });
    link.receiver.audio(tone(8000, 600, 8000));
    call.ticks(50);
    await call.audio.close();
    const file = parseWav(readFileSync(path));
    expect(file.sampleRateHz).toBe(8000);
    expect(file.samples.length).toBe(2 * 16_000);
    expect(share(pickChannel(file, 1).slice(9000, 15_000), 8000, 600)).toBeGreaterThan(0.95);
  });

  it('of a call that ends while its file is made is closed, too, and told', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'call.wav');
    call.connect();
    const starting = call.audio.startRecording(path);
    const { recording } = await call.audio.close();
    await starting;
    expect(recording).toEqual({ path, durationMs: 0, lengthBytes: 44 });
    expect(openFiles()).not.toContain(path);
  });

  it('that cannot be made says why', async () => {
    const call = await openCall();
    call.connect();
    await expect(call.audio.startRecording('/dev/null/call.wav')).rejects.toMatchObject({
      code: 'recording_failed',
    });
    call.ticks(2);
  });

  it('fails once when the disk is full, and the call goes on', async () => {
    const call = await openCall();
    call.connect();
    await expect(call.audio.startRecording('/dev/full')).rejects.toThrow('ENOSPC');
    call.ticks(2);
    expect(call.rtp.sent.length).toBe(2);
  });
});

it('reports the same each time it is closed, and takes nothing after it', async () => {
  const call = await openCall();
  call.connect();
  const link = await call.bridge();
  call.ticks(5);
  const report = await call.audio.close();
  expect(await call.audio.close()).toBe(report);
  expect(report).toMatchObject({ packetsSent: 5, quality: { codec: 'PCMU', packetsReceived: 0 } });
  expect(report.quality?.mos).toBeUndefined();
  expect(link.closedWith).toEqual({ code: 1000, reason: 'the call has ended' });
  expect(() => call.connect()).toThrow('the call has ended');
  await expect(call.bridge()).rejects.toThrow('the call has ended');
});
