import { describe, expect, it } from 'vitest';
import { parseRtcp } from '../../../src/media/rtcp/parse.ts';
import { SrtpStream } from '../../../src/media/srtp/srtp.ts';
import { agentCall, CODECS, connectedCall, openCall, PEER, Phone, read } from '../support/callHarness.ts';
import { tone, toneShare } from '../support/signals.ts';

describe('DTMF', () => {
  it('reports a digit once, when it is released', async () => {
    const { call, link } = await agentCall();
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
    expect(call.valuesOf('dtmf')).toEqual([{ digit: '5', durationMs: 60 }]);
    expect(link.messages).toEqual([{ digit: '5', durationMs: 60 }]);
  });

  it('takes events that are a source of their own, and goes on hearing the audio', async () => {
    const { call, link } = await agentCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    const keys = new Phone(CODECS.PCMU, new Int16Array(160));
    Object.assign(keys, { ssrc: 0x9999, sequenceNumber: 5 });
    call.ticks(100, (index) => {
      call.rtp.deliver(phone.next());
      if (index < 50 || index > 55) return;
      call.rtp.deliver(keys.packet(101, Uint8Array.of(7, index > 52 ? 0x8a : 0x0a, 2, 128), 77));
    });
    expect(call.valuesOf('dtmf')).toEqual([{ digit: '7', durationMs: 80 }]);
    expect(toneShare(Int16Array.from(link.audio).slice(-8000), 8000, 500)).toBeGreaterThan(0.95);
  });

  it('takes and sends events by a clock other than the codec’s', async () => {
    const call = await connectedCall({ codec: CODECS.opus });
    const phone = new Phone(CODECS.opus, tone(16_000, 500, 16_000));
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    call.ticks(3, () => call.rtp.deliver(phone.packet(101, Uint8Array.of(6, 0x8a, 3, 32), 77)));
    expect(call.valuesOf('dtmf')).toEqual([{ digit: '6', durationMs: 100 }]);
    const sending = call.audio.sendDtmf('1');
    call.ticks(20);
    await sending;
    const sent = call.rtp.sent
      .map(({ bytes }) => read(bytes))
      .filter(({ payloadType }) => payloadType === 101);
    // 100 ms by a clock of 8000.
    expect(sent.at(-1)?.payload()).toEqual(Uint8Array.of(1, 0x8a, 800 >> 8, 800 & 0xff));
  });

  it('reports digits of the first source only', async () => {
    const { call, link } = await agentCall();
    call.audio.receiveDtmf({ digit: '7', durationMs: 160 }, 'signalling');
    call.audio.receiveDtmf({ digit: '7', durationMs: 100 }, 'rtp');
    call.audio.receiveDtmf({ digit: '8', durationMs: 160 }, 'signalling');
    expect(link.messages).toEqual([
      { digit: '7', durationMs: 160 },
      { digit: '8', durationMs: 160 },
    ]);
  });

  it('sends digits in place of audio, which waits', async () => {
    const { call, link } = await agentCall();
    link.handler.audio(new Int16Array(8000).fill(1000));
    link.handler.mark('end');
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
    // 62 ticks with 14 event packets: 48 of the agent's 50 frames are sent.
    expect(link.messages).toEqual([]);
    call.ticks(2);
    expect(link.messages).toMatchObject([{ mark: { name: 'end', playedSamples: 8000 } }]);
  });

  it('rejects digits that cannot be sent', async () => {
    const call = await openCall();
    expect(() => call.audio.sendDtmf('1')).toThrow('not connected');
    const { remote, codec } = { remote: { ...PEER, rtcpPort: 4001 }, codec: CODECS.PCMU };
    call.connect({ remote, codec, dtmf: undefined });
    expect(() => call.audio.sendDtmf('1')).toThrow('takes no DTMF digits');
    call.connect();
    expect(() => call.audio.sendDtmf('1x')).toThrow("'x' is not a DTMF digit");
    const waiting = call.audio.sendDtmf('123');
    const refused = expect(waiting).rejects.toThrow('the call has ended');
    await call.audio.close();
    await refused;
  });
});

describe('RTP reception', () => {
  it('latches the source of the audio and refuses other sources', async () => {
    const { call, link } = await agentCall();
    const nat = { address: '198.51.100.9', port: 61_000 };
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    const other = new Phone(CODECS.PCMU, tone(8000, 300, 8000));
    const fromBoth = () => {
      call.rtp.deliver(phone.next(), nat);
      call.rtp.deliver(other.next(), { address: '203.0.113.66', port: 4000 });
    };
    // The signalled address sends nothing for the grace.
    call.ticks(25, () => call.rtp.deliver(phone.next(), nat));
    expect(call.rtp.sent.at(-1)?.to).toEqual(PEER);
    call.ticks(99, fromBoth);
    expect(call.rtp.sent.at(-1)?.to).toEqual(nat);
    // A packet of the signalled address would still be taken.
    expect(call.rtp.filter).toBeUndefined();
    call.ticks(2, fromBoth);
    expect(call.rtp.filter).toEqual(nat);
    expect(toneShare(Int16Array.from(link.audio.slice(8000)), 8000, 1000)).toBeGreaterThan(0.95);
    const { counters } = await call.audio.close();
    expect(counters?.foreignSourcePackets).toBe(25 + 101);
  });

  it('follows a re-INVITE though late packets of the old address arrive', async () => {
    const call = await connectedCall();
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
    expect((await call.audio.close()).counters?.foreignSourcePackets).toBe(2);
  });

  it('listens to the signalled address again once another source is silent', async () => {
    const call = await connectedCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    const nat = { address: '198.51.100.9', port: 61_000 };
    call.ticks(150, () => call.rtp.deliver(phone.next(), nat));
    expect(call.rtp.filter).toEqual(nat);
    call.ticks(151);
    expect(call.rtp.filter).toBeUndefined();
    call.ticks(3, () => call.rtp.deliver(phone.next(), { address: '203.0.113.66', port: 4000 }));
    expect(call.rtp.sent.at(-1)?.to).toEqual(nat);
    call.ticks(3, () => call.rtp.deliver(phone.next()));
    expect(call.rtp.sent.at(-1)?.to).toEqual(PEER);
    expect(call.rtp.filter).toEqual(PEER);
  });

  it.each([
    ['PCMU', 'PCMA'],
    ['PCMU', 'opus'],
    ['PCMU', 'G722'],
    ['G722', 'PCMU'],
    ['opus', 'PCMU'],
    ['opus', 'G722'],
  ] as const)('of a call with %s hears a peer that changes to %s, and back', async (ours, theirs) => {
    const call = await openCall();
    const codecs = [CODECS[ours], CODECS[theirs]];
    call.connect({ codec: CODECS[ours], received: codecs });
    const link = await call.startStream();
    const [first, second] = codecs.map((codec) => {
      const rateHz = codec.payloadType === 0 || codec.payloadType === 8 ? 8000 : 16_000;
      return new Phone(codec, tone(rateHz, 1000, rateHz));
    });
    if (!first || !second) throw new Error('there are two codecs');
    for (const phone of [first, second, first]) {
      call.ticks(100, () => {
        call.rtp.deliver(phone.next());
        first.sequenceNumber = second.sequenceNumber = phone.sequenceNumber;
      });
      const heard = Int16Array.from(link.audio).slice(-link.sampleRateHz);
      expect(toneShare(heard, link.sampleRateHz, 1000)).toBeGreaterThan(0.95);
    }
    const { quality } = await call.audio.close();
    expect(quality).toMatchObject({ codec: ours, packetsLost: 0 });
    expect(quality?.jitterMs).toBeLessThan(5);
  });

  it.each([
    ['by its samples', [320]],
    ['by its samples at first', [...Array(15).fill(320), 160]],
  ])('hears G.722 whose timestamps count %s', async (_what, steps) => {
    const { call, link } = await agentCall({ codec: CODECS.G722 });
    const phone = new Phone(CODECS.G722, tone(16_000, 1000, 16_000));
    let timestamp = 0xffff_f000;
    call.ticks(150, (index) => {
      phone.timestamp = timestamp;
      call.rtp.deliver(phone.next());
      timestamp = (timestamp + (steps[Math.min(index, steps.length - 1)] ?? 0)) >>> 0;
    });
    expect(toneShare(Int16Array.from(link.audio).slice(-16_000), 16_000, 1000)).toBeGreaterThan(0.95);
    expect(call.audio.quality().jitterMs).toBeLessThan(5);
  });

  it('hears a peer whose packets alternate between two codecs', async () => {
    const { call, link } = await agentCall({ received: [CODECS.PCMU, CODECS.PCMA] });
    const samples = tone(8000, 1000, 8000);
    const phones = [new Phone(CODECS.PCMU, samples), new Phone(CODECS.PCMA, samples)];
    call.ticks(100, (index) => {
      const packets = phones.map((phone) => phone.next());
      call.rtp.deliver(packets[index % 2] ?? new Uint8Array());
    });
    expect(toneShare(Int16Array.from(link.audio).slice(-8000), 8000, 1000)).toBeGreaterThan(0.95);
  });

  it('follows a source that changes its SSRC', async () => {
    const { call, link } = await agentCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(50, () => call.rtp.deliver(phone.next()));
    Object.assign(phone, { ssrc: 0x9999, sequenceNumber: 7, timestamp: 12 });
    call.ticks(50, () => call.rtp.deliver(phone.next()));
    expect(toneShare(Int16Array.from(link.audio.slice(-4000)), 8000, 1000)).toBeGreaterThan(0.95);
  });

  it('counts invalid packets and a flood, and plays the rest', async () => {
    const { call, link } = await agentCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(100, () => {
      call.rtp.deliver(phone.next());
      call.rtp.deliver(Uint8Array.of(0x80, 0));
      call.rtp.deliver(new Uint8Array(200));
      call.rtp.deliver(phone.packet(77, new Uint8Array(160)));
      phone.sequenceNumber--;
    });
    for (let n = 0; n < 1000; n++) call.rtp.deliver(new Uint8Array(200));
    // The peer's packet of that tick is lost in the flood.
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    expect(toneShare(Int16Array.from(link.audio.slice(8000, 16_000)), 8000, 1000)).toBeGreaterThan(0.95);
    const { counters, quality: figures } = await call.audio.close();
    expect(counters).toMatchObject({ malformedPackets: 250, unknownPayloadTypes: 100, floodedPackets: 951 });
    expect(figures).toMatchObject({ packetsReceived: 108, packetsLost: 1 });
  });

  it('emits mediaTimeout once for each silence, and not during hold', async () => {
    const call = await openCall({ timeoutMs: 1000 });
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.connect();
    call.ticks(10, () => call.rtp.deliver(phone.next()));
    call.ticks(100);
    expect(call.valuesOf('mediaTimeout')).toEqual([{ forMs: 1000 }]);
    call.ticks(1, () => call.rtp.deliver(phone.next()));
    call.ticks(60);
    expect(call.valuesOf('mediaTimeout').length).toBe(2);
    call.connect({ direction: 'inactive' });
    call.ticks(200);
    expect(call.valuesOf('mediaTimeout').length).toBe(2);
    call.connect();
    call.ticks(49);
    expect(call.valuesOf('mediaTimeout').length).toBe(2);
    call.ticks(2);
    expect(call.valuesOf('mediaTimeout').length).toBe(3);
  });
});

describe('RTCP', () => {
  it('sends reports by schedule, report blocks and BYE', async () => {
    const call = await connectedCall();
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

  it('is multiplexed with RTP when the peer asks for it', async () => {
    const call = await connectedCall({ remote: { ...PEER, rtcpPort: PEER.port } });
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

  it('protects both directions, and plain RTP is refused', async () => {
    const { call, link } = await agentCall({ srtp: { local: key(1), remote: key(2) } });
    link.handler.audio(tone(8000, 600, 16_000));
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
    expect(toneShare(Int16Array.from(link.audio.slice(8000)), 8000, 1000)).toBeGreaterThan(0.95);
    const opened = call.rtp.sent.map(({ bytes }) => {
      const packet = phoneIn.unprotect(bytes);
      if (typeof packet === 'string') throw new Error(packet);
      return { bytes: packet };
    });
    expect(toneShare(phone.hear(opened).slice(8000), 8000, 600)).toBeGreaterThan(0.95);
    // The same keys in a re-INVITE keep their state.
    call.connect({ srtp: { local: key(1), remote: key(2) } });
    const { counters } = await call.audio.close();
    expect(counters?.unauthenticPackets).toBe(100);
  });
});
