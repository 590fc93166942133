import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { CODECS, connectedCall, openCall, Phone, read } from '../support/callHarness.ts';
import { rootMeanSquare, segmentalSnrDb, tone, toneShare } from '../support/signals.ts';

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}

describe('Call recorder', () => {
  it('records the caller left and the agent right, in time', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'deep', 'call.wav');
    call.connect();
    const link = await call.startStream();
    await call.audio.startRecording({ path });
    const source = tone(8000, 1000, 8000);
    const phone = new Phone(CODECS.PCMU, source);
    const agent = tone(8000, 600, 8000);
    call.ticks(175, (index) => {
      call.rtp.deliver(phone.next());
      if (index === 50) link.handler.audio(agent);
    });
    const { recording } = await call.audio.close();
    const startedAtMs = expect.any(Number);
    expect(recording).toEqual({ path, startedAtMs, durationMs: 3500, lengthBytes: 44 + 3.5 * 8000 * 4 });
    const file = parseWav(readFileSync(path));
    expect(file).toMatchObject({ sampleRateHz: 8000, channels: 2 });
    const [left, right] = [pickChannel(file, 0), pickChannel(file, 1)];
    expect([...left]).toEqual(link.audio);
    expect(toneShare(left.slice(8000), 8000, 1000)).toBeGreaterThan(0.95);
    expect(rootMeanSquare(right.slice(0, 8000))).toBe(0);
    expect([...right.slice(8000, 16_000)]).toEqual([...agent]);
    expect(rootMeanSquare(right.slice(16_000))).toBe(0);
    // The caller got the recorded audio, but for companding.
    expect(
      segmentalSnrDb(right.slice(8000, 16_000), phone.hear(call.rtp.sent).slice(8000, 16_000), 160),
    ).toBeGreaterThan(30);
  });

  it('records silence for skipped ticks', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'call.wav');
    call.connect();
    const link = await call.startStream();
    await call.audio.startRecording({ path });
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

  it('goes on after a stall of ten seconds and more', async () => {
    const call = await connectedCall();
    await call.startStream();
    await call.audio.startRecording({ path: join(tempDir(), 'call.wav') });
    call.ticks(90);
    call.audio.tick({ deadlineMs: call.clock.monotonicMs(), lateMs: 0, skippedTicks: 1500 });
    const { recording } = await call.audio.close();
    expect(recording?.error).toBeUndefined();
    expect(recording?.durationMs).toBe(11_820);
  });

  it('keeps the file’s rate when the codec changes', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'call.wav');
    call.connect();
    const link = await call.startStream();
    await call.audio.startRecording({ path });
    call.ticks(50);
    call.connect({ codec: CODECS.G722 });
    link.handler.audio(tone(8000, 600, 8000));
    call.ticks(50);
    await call.audio.close();
    const file = parseWav(readFileSync(path));
    expect(file.sampleRateHz).toBe(8000);
    expect(file.samples.length).toBe(2 * 16_000);
    expect(toneShare(pickChannel(file, 1).slice(9000, 15_000), 8000, 600)).toBeGreaterThan(0.95);
  });

  it('closes and reports a file that is opened while the call ends', async () => {
    const call = await openCall();
    const path = join(tempDir(), 'call.wav');
    call.connect();
    const starting = call.audio.startRecording({ path });
    const { recording } = await call.audio.close();
    await starting;
    expect(recording).toEqual({ path, durationMs: 0, lengthBytes: 44 });
    expect(openFiles()).not.toContain(path);
  });

  it('rejects a path that cannot be opened', async () => {
    const call = await connectedCall();
    await expect(call.audio.startRecording({ path: '/dev/null/call.wav' })).rejects.toMatchObject({
      code: 'recording_failed',
    });
    call.ticks(2);
  });

  it('rejects a full disk, and the call continues', async () => {
    const call = await connectedCall();
    await expect(call.audio.startRecording({ path: '/dev/full' })).rejects.toThrow('ENOSPC');
    call.ticks(2);
    expect(call.rtp.sent.length).toBe(2);
  });
});
