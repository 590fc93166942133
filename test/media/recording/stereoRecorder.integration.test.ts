import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inspectRecording, type RecordingFile } from '../../../src/media/recording/recordingFile.ts';
import { startRecorder } from '../../../src/media/recording/stereoRecorder.ts';
import { parseWav, pickChannel, wavHeader } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { tone } from '../support/signals.ts';

/** A file whose writes complete on request. */
function fakeDisk(answer: (write: number) => Promise<void>) {
  const writes: { readonly position: number; readonly length: number }[] = [];
  let isClosed = false;
  const file: RecordingFile = {
    async write(bytes, position) {
      writes.push({ position, length: bytes.length });
      await answer(writes.length);
    },
    async close() {
      isClosed = true;
    },
  };
  return { writes, openFile: async () => file, isClosed: () => isClosed };
}

const frame = (value: number) => new Int16Array(160).fill(value);
const settled = () => sleep(5);

describe('StereoRecorder', () => {
  it('writes whole seconds, each followed by the header, and the rest at the end', async () => {
    const disk = fakeDisk(async () => {});
    const failures: string[] = [];
    const recorder = await startRecorder({
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
      { position: 0, length: 44 },
      { position: 44 + second, length: second },
      { position: 0, length: 44 },
    ]);
    const report = await recorder.close();
    expect(disk.writes.slice(5)).toEqual([
      { position: 44 + 2 * second, length: second / 5 },
      { position: 0, length: 44 },
    ]);
    expect(report).toEqual({ path: 'x.wav', durationMs: 2200, lengthBytes: 44 + 2.2 * second });
    expect(await recorder.close()).toBe(report);
    expect(disk.isClosed()).toBe(true);
    expect(failures).toEqual([]);
  });

  it('fails once at a write error, and keeps the written audio', async () => {
    const noSpace = Object.assign(new Error('write'), { code: 'ENOSPC' });
    const disk = fakeDisk(async (write) => {
      if (write === 4) throw noSpace;
    });
    const failures: string[] = [];
    const recorder = await startRecorder({
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
    expect(disk.writes.length).toBe(4);
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
    const recorder = await startRecorder({
      path: 'x.wav',
      sampleRateHz: 8000,
      onFailure: (reason) => failures.push(reason),
      openFile: disk.openFile,
    });
    for (let n = 0; n < 50 * 8; n++) recorder.write(frame(1), frame(2));
    expect(failures).toEqual([]);
    for (let n = 0; n < 50; n++) recorder.write(frame(1), frame(2));
    expect(failures).toEqual(['the disk is too slow']);
    release();
    expect((await recorder.close()).error).toBe('the disk is too slow');
  });

  it('leaves a valid file when its process is killed', async () => {
    const path = join(tempDir(), 'killed.wav');
    const program = fileURLToPath(new URL('fixtures/recorderProcess.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', program, path], { stdio: 'inherit' });
    const exited = once(child, 'exit');
    const announced = () => (existsSync(path) ? readFileSync(path).readUInt32LE(40) : 0);
    await expect.poll(announced, { timeout: 15_000, interval: 3 }).toBeGreaterThanOrEqual(2 * 64_000);
    child.kill('SIGKILL');
    await exited;
    const report = await inspectRecording(path, 'the process was killed');
    expect(report.durationMs).toBeGreaterThanOrEqual(2000);
    expect(report).toMatchObject({ lengthBytes: 44 + announced(), error: 'the process was killed' });
    const file = parseWav(readFileSync(path));
    expect(file.samples.length * 2).toBe(announced());
    const source = tone(16_000, 1000, 16_000);
    for (const channel of [0, 1]) {
      expect(pickChannel(file, channel).slice(0, 16_000)).toEqual(source);
      expect(pickChannel(file, channel).slice(16_000, 32_000)).toEqual(source);
    }
  });
});

describe('inspectRecording', () => {
  it('trusts the file’s length over its header', async () => {
    const path = join(tempDir(), 'cut.wav');
    const { writeFileSync } = await import('node:fs');
    const header = wavHeader({ sampleRateHz: 8000, channels: 2 }, 64_000);
    writeFileSync(path, Buffer.concat([header, Buffer.alloc(32_000)]));
    expect(await inspectRecording(path, 'why')).toEqual({
      path,
      durationMs: 1000,
      lengthBytes: 32_044,
      error: 'why',
    });
    writeFileSync(path, 'no');
    await expect(inspectRecording(path, 'why')).rejects.toMatchObject({ code: 'wav_invalid' });
  });
});
