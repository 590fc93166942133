import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { type CallHarness, CODECS, openCall, Phone, read } from '../support/callHarness.ts';
import { rootMeanSquare, tone, tonePower, toneShare } from '../support/signals.ts';

const CALLER_HZ = 1000;
const OTHER_HZ = 600;
const naturalRateHz = { PCMU: 8000, PCMA: 8000, G722: 16_000, opus: 16_000, L16: 24_000 } as const;

/** Two calls on one thread, each with a phone that sends a tone. */
async function twoCalls(one: keyof typeof CODECS, other: keyof typeof CODECS) {
  const side = async (name: keyof typeof CODECS, frequencyHz: number) => {
    const call = await openCall();
    call.connect({ codec: CODECS[name] });
    const rateHz = naturalRateHz[name];
    const phone = new Phone(CODECS[name], tone(rateHz, frequencyHz, rateHz));
    return { call, phone, rateHz, heard: () => phone.hear(call.rtp.sent) };
  };
  const near = await side(one, CALLER_HZ);
  const far = await side(other, OTHER_HZ);
  const ticks = (count: number) => {
    for (let n = 0; n < count; n++) {
      for (const { call, phone } of [near, far]) call.ticks(1, () => call.rtp.deliver(phone.next()));
    }
  };
  return { near, far, ticks };
}
const dtmfPacketsIn = ({ rtp }: CallHarness) =>
  rtp.sent.filter(({ bytes }) => read(bytes).payloadType === 101).length;

describe('Call bridge', () => {
  it.each([
    ['PCMU', 'PCMU'],
    ['PCMU', 'G722'],
    ['opus', 'PCMA'],
    ['L16', 'PCMU'],
  ] as const)('carries audio in both directions between %s and %s', async (one, other) => {
    const { near, far, ticks } = await twoCalls(one, other);
    near.call.audio.parties.bridge(far.call.audio.parties);
    ticks(100);
    expect(toneShare(near.heard().slice(near.rateHz), near.rateHz, OTHER_HZ)).toBeGreaterThan(0.9);
    expect(toneShare(far.heard().slice(far.rateHz), far.rateHz, CALLER_HZ)).toBeGreaterThan(0.9);
  });

  it('forwards DTMF digits', async () => {
    const { near, far, ticks } = await twoCalls('PCMU', 'PCMA');
    near.call.audio.parties.bridge(far.call.audio.parties);
    ticks(5);
    // RFC 4733: event 5 with the end bit, 800 ticks of 8 kHz; the end is sent three times.
    const event = Uint8Array.of(5, 0x80 | 10, 0x03, 0x20);
    for (let n = 0; n < 3; n++) near.call.rtp.deliver(near.phone.packet(101, event));
    ticks(20);
    expect(near.call.valuesOf('dtmf')).toEqual([{ digit: '5', durationMs: 100 }]);
    expect(dtmfPacketsIn(far.call)).toBeGreaterThanOrEqual(7);
    expect(dtmfPacketsIn(near.call)).toBe(0);
  });

  it('ends with unbridge, and with either call', async () => {
    const { near, far, ticks } = await twoCalls('PCMU', 'PCMU');
    near.call.audio.parties.bridge(far.call.audio.parties);
    ticks(20);
    near.call.audio.parties.unbridge();
    const before = { near: near.heard().length, far: far.heard().length };
    ticks(10);
    expect(rootMeanSquare(near.heard().slice(before.near + 320))).toBe(0);
    expect(rootMeanSquare(far.heard().slice(before.far + 640))).toBe(0);

    near.call.audio.parties.bridge(far.call.audio.parties);
    ticks(20);
    await far.call.audio.close();
    const atEnd = near.heard().length;
    near.call.ticks(10, () => near.call.rtp.deliver(near.phone.next()));
    expect(rootMeanSquare(near.heard().slice(atEnd + 640))).toBe(0);
  });

  it('survives a change of codec', async () => {
    const { near, far, ticks } = await twoCalls('PCMU', 'PCMU');
    near.call.audio.parties.bridge(far.call.audio.parties);
    ticks(20);
    far.call.connect({ codec: CODECS.G722 });
    const wide = new Phone(CODECS.G722, tone(16_000, OTHER_HZ, 16_000));
    const from = { near: near.heard().length, far: far.call.rtp.sent.length };
    for (let n = 0; n < 100; n++) {
      near.call.ticks(1, () => near.call.rtp.deliver(near.phone.next()));
      far.call.ticks(1, () => far.call.rtp.deliver(wide.next()));
    }
    expect(toneShare(near.heard().slice(from.near + 8000), 8000, OTHER_HZ)).toBeGreaterThan(0.9);
    const atFar = wide.hear(far.call.rtp.sent.slice(from.far));
    expect(toneShare(atFar.slice(16_000), 16_000, CALLER_HZ)).toBeGreaterThan(0.9);
  });

  it('queues three frames at most', async () => {
    const { near, far, ticks } = await twoCalls('PCMU', 'PCMU');
    near.call.audio.parties.bridge(far.call.audio.parties);
    near.call.ticks(50, () => near.call.rtp.deliver(near.phone.next()));
    far.call.ticks(10);
    expect(far.heard().filter((sample) => Math.abs(sample) > 1000).length).toBeLessThanOrEqual(3 * 160);
    ticks(1);
  });

  it('is recorded with the caller left, and the agent or the other call right', async () => {
    const { near, far, ticks } = await twoCalls('PCMU', 'PCMU');
    const path = join(tempDir(), 'bridged.wav');
    const link = await near.call.startStream();
    await near.call.audio.startRecording({ path });
    link.handler.audio(tone(8000, 440, 4000));
    ticks(50);
    near.call.audio.stopStream();
    near.call.audio.parties.bridge(far.call.audio.parties);
    ticks(100);
    await near.call.audio.close();
    const file = parseWav(readFileSync(path));
    const [left, right] = [pickChannel(file, 0), pickChannel(file, 1)];
    expect(toneShare(left.slice(16_000), 8000, CALLER_HZ)).toBeGreaterThan(0.9);
    expect(toneShare(right.slice(0, 4000), 8000, 440)).toBeGreaterThan(0.9);
    expect(toneShare(right.slice(16_000), 8000, OTHER_HZ)).toBeGreaterThan(0.9);
    expect(link.closedWith).toMatchObject({ code: 1000 });
    expect(near.call.valuesOf('streamClosed')).toEqual([]);
  });
});

describe('Ringback', () => {
  it('plays one second of three at any rate, and not over the agent’s audio', async () => {
    const call = await openCall();
    call.connect({ codec: CODECS.G722 });
    const link = await call.startStream();
    call.audio.parties.startRingback();
    link.handler.audio(tone(16_000, 1000, 16_000 / 5));
    call.ticks(150);
    const heard = new Phone(CODECS.G722, new Int16Array(320)).hear(call.rtp.sent);
    const isTone = (from: number, frequencyHz: number) =>
      tonePower(heard.slice(16_000 * from, 16_000 * (from + 0.15)), 16_000, frequencyHz) > 1000 ** 2;
    expect([isTone(0, 1000), isTone(0, 440)]).toEqual([true, false]);
    expect([isTone(0.5, 440), isTone(0.5, 480), isTone(0.5, 1000)]).toEqual([true, true, false]);
    expect(rootMeanSquare(heard.slice(16_000 * 1.5, 16_000 * 2.9))).toBeLessThan(100);
  });

  it('ends with unbridge, and needs a connected call', async () => {
    const call = await openCall();
    expect(() => call.audio.parties.startRingback()).toThrow('not connected');
    call.connect();
    call.audio.parties.startRingback();
    call.ticks(10);
    call.audio.parties.unbridge();
    call.ticks(10);
    const heard = new Phone(CODECS.PCMU, new Int16Array(160)).hear(call.rtp.sent);
    expect(rootMeanSquare(heard.slice(0, 1600))).toBeGreaterThan(1000);
    expect(rootMeanSquare(heard.slice(1600))).toBe(0);
  });
});
