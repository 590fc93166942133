import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { completeRecording, type RecordingFile } from '../../../src/media/recording/recordingFile.ts';
import { type RecorderOptions, StereoRecorder } from '../../../src/media/recording/stereoRecorder.ts';
import { parseWav, pickChannel, wavHeader } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { tone } from '../support/signals.ts';

/** A file whose writes complete on request. */
function fakeDisk(answer: (write: number) => Promise<void>) {
  const writes: { readonly position: number; readonly length: number }[] = [];
  let isClosed = false;
  let header = Buffer.alloc(0);
  const file: RecordingFile = {
    async write(bytes, position) {
      writes.push({ position, length: bytes.length });
      await answer(writes.length);
      if (position === 0) header = Buffer.from(bytes);
    },
    async close() {
      isClosed = true;
    },
  };
  return {
    writes,
    openFile: async () => file,
    isClosed: () => isClosed,
    announced: () => header.readUInt32LE(40),
  };
}

const frame = (value: number) => new Int16Array(160).fill(value);
async function openRecorder(options: RecorderOptions): Promise<StereoRecorder> {
  const recorder = new StereoRecorder(options);
  await recorder.open();
  return recorder;
}

const settled = () => sleep(5);

describe('StereoRecorder', () => {
  it('writes whole seconds by one write each, and the rest and the header at the end', async () => {
    const disk = fakeDisk(async () => {});
    const failures: string[] = [];
    const recorder = await openRecorder({
      path: 'x.wav',
      sampleRateHz: 8000,
      onFailure: (reason) => failures.push(reason),
      openFile: disk.openFile,
    });
    for (let n = 0; n < 110; n++) recorder.write(frame(1), frame(2));
    await settled();
    const second = 8000 * 4;
    expect(disk.writes).toEqual([
      { position: 0, length: 44 },
      { position: 44, length: second },
      { position: 44 + second, length: second },
    ]);
    const report = await recorder.close();
    expect(disk.writes.slice(3)).toEqual([
      { position: 44 + 2 * second, length: second / 5 },
      { position: 0, length: 44 },
    ]);
    expect(report).toEqual({ path: 'x.wav', durationMs: 2200, lengthBytes: 44 + 2.2 * second });
    expect(await recorder.close()).toBe(report);
    expect(disk.isClosed()).toBe(true);
    expect(failures).toEqual([]);
  });

  it('records what is said while its file is being opened', async () => {
    const disk = fakeDisk(async () => {});
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const recorder = new StereoRecorder({
      path: 'x.wav',
      sampleRateHz: 8000,
      onFailure: () => undefined,
      openFile: () => opened.then(disk.openFile),
    });
    const opening = recorder.open();
    for (let n = 0; n < 110; n++) recorder.write(frame(1), frame(2));
    open();
    await opening;
    await settled();
    expect(disk.writes.map(({ length }) => length)).toEqual([44, 32_000, 32_000]);
    expect(await recorder.close()).toMatchObject({ durationMs: 2200 });
  });

  it('fails once at a write error, and its header has the length of the audio before it', async () => {
    const noSpace = Object.assign(new Error('write'), { code: 'ENOSPC' });
    const disk = fakeDisk(async (write) => {
      if (write === 3) throw noSpace;
    });
    const failures: string[] = [];
    const recorder = await openRecorder({
      path: 'x.wav',
      sampleRateHz: 8000,
      onFailure: (reason) => failures.push(reason),
      openFile: disk.openFile,
    });
    for (let n = 0; n < 300; n++) recorder.write(frame(1), frame(2));
    await settled();
    for (let n = 0; n < 300; n++) recorder.write(frame(1), frame(2));
    const report = await recorder.close();
    expect(failures).toEqual(['the disk is full (ENOSPC)']);
    expect(disk.writes.slice(3)).toEqual([{ position: 0, length: 44 }]);
    expect(disk.announced()).toBe(32_000);
    expect(report).toMatchObject({ durationMs: 1000, error: 'the disk is full (ENOSPC)' });
    expect(disk.isClosed()).toBe(true);
  });

  it('fails on a disk that is too slow, before memory grows', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const disk = fakeDisk((write) => (write === 1 ? Promise.resolve() : held));
    const failures: string[] = [];
    const recorder = await openRecorder({
      path: 'x.wav',
      sampleRateHz: 8000,
      onFailure: (reason) => failures.push(reason),
      openFile: disk.openFile,
    });
    for (let n = 0; n < 50 * 16; n++) recorder.write(frame(1), frame(2));
    expect(failures).toEqual([]);
    for (let n = 0; n < 50; n++) recorder.write(frame(1), frame(2));
    expect(failures).toEqual(['the disk is too slow']);
    release();
    expect((await recorder.close()).error).toBe('the disk is too slow');
  });

  it('loses at most a second when its process is killed', async () => {
    const path = join(tempDir(), 'killed.wav');
    const program = fileURLToPath(new URL('fixtures/recorderProcess.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', program, path], { stdio: 'inherit' });
    const exited = once(child, 'exit');
    const written = () => (existsSync(path) ? statSync(path).size : 0);
    await expect.poll(written, { timeout: 15_000, interval: 3 }).toBeGreaterThanOrEqual(44 + 2 * 64_000);
    child.kill('SIGKILL');
    await exited;
    expect(parseWav(readFileSync(path)).samples.length).toBe(0);
    const length = await completeRecording(path);
    const file = parseWav(readFileSync(path));
    expect(length?.durationMs).toBeGreaterThanOrEqual(2000);
    expect(length).toEqual({ bytes: written(), durationMs: (written() - 44) / 64 });
    expect(file.samples.length * 2).toBe(written() - 44);
    const source = tone(16_000, 1000, 16_000);
    for (const channel of [0, 1]) {
      expect(pickChannel(file, channel).slice(0, 16_000)).toEqual(source);
      expect(pickChannel(file, channel).slice(16_000, 32_000)).toEqual(source);
    }
  });
});

describe('completeRecording', () => {
  const FORMAT = { sampleRateHz: 8000, channels: 2 } as const;

  it.each([
    ['nothing', 0],
    ['less', 16_000],
    ['more', 64_000],
  ])('writes the length of the whole frames into a header that announces %s', async (_, announced) => {
    const path = join(tempDir(), 'cut.wav');
    writeFileSync(path, Buffer.concat([wavHeader(FORMAT, announced), Buffer.alloc(32_003, 1)]));
    expect(await completeRecording(path)).toEqual({ durationMs: 1000, bytes: 32_044 });
    expect(readFileSync(path)).toEqual(Buffer.concat([wavHeader(FORMAT, 32_000), Buffer.alloc(32_000, 1)]));
  });

  it('has nothing to complete without audio', async () => {
    const path = join(tempDir(), 'empty.wav');
    expect(await completeRecording(path)).toBeUndefined();
    writeFileSync(path, wavHeader(FORMAT, 0));
    expect(await completeRecording(path)).toBeUndefined();
  });

  it('changes no other file', async () => {
    const path = join(tempDir(), 'other');
    writeFileSync(path, 'x'.repeat(100));
    await expect(completeRecording(path)).rejects.toMatchObject({ code: 'wav_invalid' });
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(100));
  });
});
