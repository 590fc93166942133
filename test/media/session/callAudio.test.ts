import { describe, expect, it } from 'vitest';
import { agentCall, CODECS, connectedCall, openCall, PEER, Phone, read } from '../support/callHarness.ts';
import { createRandom, rootMeanSquare, tone, toneShare } from '../support/signals.ts';

describe('Call audio', () => {
  it.each([
    ['PCMU', 8000, 160],
    ['PCMA', 8000, 160],
    // 16 kHz of sound, and yet the clock counts 8 kHz (RFC 3551 section 4.5.2).
    ['G722', 16_000, 160],
    ['opus', 16_000, 960],
    ['L16', 24_000, 480],
  ] as const)('carries tones in both directions in %s', async (name, rateHz, ticksPerFrame) => {
    const call = await openCall();
    const codec = CODECS[name];
    call.connect({ codec });
    const link = await call.startStream();
    const bridgeRateHz = rateHz === 8000 ? 8000 : 16_000;
    expect(link.sampleRateHz).toBe(bridgeRateHz);
    const phone = new Phone(codec, tone(rateHz, 1000, rateHz));
    link.handler.audio(tone(bridgeRateHz, 600, 2 * bridgeRateHz));
    call.ticks(100, () => call.rtp.deliver(phone.next()));

    const heard = Int16Array.from(link.audio);
    expect(heard.length).toBe(2 * bridgeRateHz);
    expect(toneShare(heard.slice(bridgeRateHz), bridgeRateHz, 1000)).toBeGreaterThan(0.95);
    const played = phone.hear(call.rtp.sent);
    expect(toneShare(played.slice(rateHz), rateHz, 600)).toBeGreaterThan(0.95);
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

  it('sends silence to the signalled address before any audio arrives', async () => {
    const call = await connectedCall();
    call.ticks(3);
    expect(call.rtp.sent.map(({ to }) => to)).toEqual([PEER, PEER, PEER]);
    expect(call.rtp.sent.every(({ bytes }) => bytes.subarray(12).every((byte) => byte === 0xff))).toBe(true);
  });

  it('sends the agent a frame every 20 ms, silence included, at consecutive positions', async () => {
    const { call, link } = await agentCall();
    call.ticks(5);
    expect(link.positions).toEqual([0, 160, 320, 480, 640]);
    expect(link.audio).toEqual(new Array(800).fill(0));
  });

  it('gives the agent every word of the caller that arrived while the thread stood still', async () => {
    const { call, link } = await agentCall();
    const random = createRandom(3);
    const words = Int16Array.from({ length: 2 * 8000 }, () => (random() - 0.5) * 20_000);
    const phone = new Phone(CODECS.PCMU, words);
    call.ticks(50, () => call.rtp.deliver(phone.next()));
    const missed = 15;
    call.clock.advance(20 * missed);
    for (let n = 0; n < missed; n++) call.rtp.deliver(phone.next());
    call.audio.tick({ deadlineMs: call.clock.monotonicMs(), lateMs: 0, skippedTicks: missed - 1 });
    call.ticks(35, () => call.rtp.deliver(phone.next()));
    /** Words that are heard this late, to the loss of the codec. */
    const isHeard = (from: number, to: number, delay: number) =>
      link.audio.slice(from, to).every((heard, n) => Math.abs(heard - (words[from + n - delay] ?? 0)) < 600);
    const delay = Array.from({ length: 800 }, (_, samples) => samples).find((samples) =>
      isHeard(7000, 8000, samples),
    );
    expect(link.audio.length).toBe(2 * 8000);
    expect(isHeard(8000, 2 * 8000, delay ?? 0)).toBe(true);
  });

  it('advances its ticks, by 40 ms at most, once packets have waited for them for seconds', async () => {
    const asked: number[] = [];
    const advanceTicks = (byMs: number) => {
      asked.push(Math.round(byMs));
      return Math.min(byMs, 10);
    };
    const call = await openCall({ advanceTicks });
    call.connect();
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(2000, () => call.rtp.deliver(phone.next()));
    // Each packet is there a whole interval before its tick; 5 ms of it are the network's.
    expect(asked).toEqual([15, 15, 15, 10]);
  });

  it.each([
    ['without packets', 0, []],
    ['of a call that others hear', 1, []],
  ])('leaves its ticks %s', async (_, parties, expected) => {
    const asked: number[] = [];
    const advanceTicks = (byMs: number) => asked.push(byMs);
    const [call, other] = [await openCall({ advanceTicks }), await openCall()];
    const phone = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    for (const { connect } of [call, other]) connect();
    if (parties > 0) call.audio.parties.bridge(other.audio.parties);
    call.ticks(1000, () => parties > 0 && call.rtp.deliver(phone.next()));
    expect(asked).toEqual(expected);
  });

  it('reports the first packet of each direction once', async () => {
    const { call, link } = await agentCall();
    const phone = new Phone(CODECS.PCMU, tone(8000, 500, 8000));
    call.ticks(2);
    expect(call.events).toEqual([]);
    const startMs = call.clock.now();
    call.ticks(5, (index) => {
      call.rtp.deliver(phone.next());
      if (index === 2) link.handler.audio(tone(8000, 500, 320));
    });
    expect(call.events).toEqual([
      { name: 'firstPacket', value: { atMs: startMs } },
      { name: 'firstAgentAudio', value: { atMs: startMs + 60 } },
    ]);
  });
});

describe('Renegotiation', () => {
  it('of a held call sends nothing, keeps the queued audio and advances the media clock', async () => {
    const { call, link } = await agentCall();
    link.handler.audio(new Int16Array(800).fill(1000));
    link.handler.mark('end');
    call.ticks(2);
    call.connect({ direction: 'recvonly' });
    call.ticks(100);
    expect(call.rtp.sent.length).toBe(2);
    expect(link.messages).toEqual([{ isHeld: true }]);
    expect(link.positions.length).toBe(102);
    call.connect();
    call.ticks(3);
    expect(link.messages.slice(1)).toMatchObject([
      { isHeld: false },
      { mark: { name: 'end', playedSamples: 800 } },
    ]);
    const [, before, after] = call.rtp.sent.map(({ bytes }) => read(bytes));
    expect(((after?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0).toBe(101 * 160);
    expect(after?.marker).toBe(true);
  });

  it('of a held call is reported to an agent that connects meanwhile', async () => {
    const { link } = await agentCall({ direction: 'inactive' });
    expect(link.messages).toEqual([{ isHeld: true }]);
  });

  it('to another codec and address keeps the stream to the agent and the totals', async () => {
    const { call, link } = await agentCall();
    const narrow = new Phone(CODECS.PCMU, tone(8000, 1000, 8000));
    call.ticks(50, () => call.rtp.deliver(narrow.next()));
    const elsewhere = { address: '198.51.100.20', port: 5000 };
    call.connect({ codec: CODECS.G722, remote: { ...elsewhere, rtcpPort: 5001 } });
    call.ticks(1);
    expect(call.rtp.sent.at(-1)?.to).toEqual(elsewhere);
    const wide = new Phone(CODECS.G722, tone(16_000, 1000, 16_000));
    link.handler.audio(tone(8000, 600, 8000));
    call.ticks(50, () => call.rtp.deliver(wide.next(), elsewhere));
    expect(link.audio.length).toBe(101 * 160);
    expect(toneShare(Int16Array.from(link.audio.slice(-4000)), 8000, 1000)).toBeGreaterThan(0.95);
    expect(toneShare(wide.hear(call.rtp.sent).slice(-8000), 16_000, 600)).toBeGreaterThan(0.9);
    const { quality: figures, packetsSent } = await call.audio.close();
    // The first packet of each source is on probation.
    expect(figures).toMatchObject({ codec: 'G722', packetsReceived: 98 });
    expect(packetsSent).toBe(101);
  });

  it('of the direction alone keeps the RTP stream', async () => {
    const call = await connectedCall();
    call.ticks(2);
    call.connect();
    call.ticks(2);
    const packets = call.rtp.sent.map(({ bytes }) => read(bytes));
    expect(new Set(packets.map(({ ssrc }) => ssrc)).size).toBe(1);
    expect(packets.map(({ marker }) => marker)).toEqual([true, false, false, false]);
  });

  it('to an unsupported codec is refused', async () => {
    const call = await openCall();
    const codec = { encodingName: 'GSM', rtpClockRateHz: 8000, channels: 1, payloadType: 3 };
    expect(() => call.connect({ codec })).toThrow('GSM/8000/1 is not supported');
  });
});

it('Call audio reports the same each time it is closed, and refuses requests afterwards', async () => {
  const { call, link } = await agentCall();
  call.ticks(5);
  const report = await call.audio.close();
  expect(await call.audio.close()).toBe(report);
  expect(report).toMatchObject({ packetsSent: 5, quality: { codec: 'PCMU', packetsReceived: 0 } });
  expect(report.quality?.mos).toBeUndefined();
  expect(link.closedWith).toEqual({ code: 1000, reason: 'the call has ended' });
  expect(() => call.connect()).toThrow('the call has ended');
  await expect(call.startStream()).rejects.toThrow('the call has ended');
});
