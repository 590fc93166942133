import type { RecordingReport } from '../mediaSession.ts';
import { frameLength } from '../resample/frameResampler.ts';
import { interleaveStereo, WAV_HEADER_BYTES, WAV_MAX_DATA_BYTES, wavHeader } from '../wav.ts';
import { type OpenRecordingFile, openRecordingFile, type RecordingFile } from './recordingFile.ts';

export interface RecorderOptions {
  readonly path: string;
  readonly sampleRateHz: 8000 | 16_000;
  /** Called once; nothing is written after it. */
  readonly onFailure: (reason: string) => void;
  readonly openFile?: OpenRecordingFile;
}

const CHANNELS = 2;
const BYTES_PER_SAMPLE = 2;
/** What a killed process may lose, and how often the disk is asked. */
const CHUNK_SECONDS = 1;
/** Chunks that may wait for the disk; one that is slower than this is as good as full. */
const MAX_WAITING_CHUNKS = 8;

/**
 * Begins a recording: an empty file, valid from now on.
 *
 * @throws {Error} When the file cannot be made or written to.
 */
export async function startRecorder(options: RecorderOptions): Promise<StereoRecorder> {
  const file = await (options.openFile ?? openRecordingFile)(options.path);
  const format = { sampleRateHz: options.sampleRateHz, channels: CHANNELS } as const;
  try {
    await file.write(wavHeader(format, 0), 0);
  } catch (error) {
    await file.close();
    throw error;
  }
  return new StereoRecorder(options, file);
}

/**
 * A call's two sides as one file: the caller left, the agent right, frame by frame as they passed on the tick clock.
 * `write` copies and returns; whole seconds go to the disk behind its back, each followed by the header, so that the
 * file is valid at every moment. The disk's first error ends the recording, and the call goes on.
 */
export class StereoRecorder {
  readonly sampleRateHz: 8000 | 16_000;
  readonly #path: string;
  readonly #file: RecordingFile;
  readonly #onFailure: (reason: string) => void;
  readonly #silence: Int16Array;
  readonly #chunkSamples: number;
  /** Those that are not in use; taken anew rather than made. */
  readonly #free: Int16Array[] = [];
  #chunk: Int16Array;
  #chunkLength = 0;
  readonly #waiting: Int16Array[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #dataBytes = 0;
  #error: string | undefined;
  #closed: Promise<RecordingReport> | undefined;

  constructor({ path, sampleRateHz, onFailure }: RecorderOptions, file: RecordingFile) {
    this.sampleRateHz = sampleRateHz;
    this.#path = path;
    this.#file = file;
    this.#onFailure = onFailure;
    this.#silence = new Int16Array(frameLength(sampleRateHz));
    this.#chunkSamples = CHUNK_SECONDS * sampleRateHz * CHANNELS;
    this.#chunk = new Int16Array(this.#chunkSamples);
  }

  /** @param left - 20 ms of the caller. @param right - 20 ms of the agent. Both are copied. */
  write(left: Int16Array, right: Int16Array): void {
    if (this.#error !== undefined || this.#closed !== undefined) return;
    const room = this.#chunk.subarray(this.#chunkLength);
    this.#chunkLength += interleaveStereo(left, right, room);
    if (this.#chunkLength === this.#chunkSamples) this.#handOver();
  }

  /** Time that passed without audio. */
  writeSilence(frames: number): void {
    for (let n = 0; n < frames; n++) this.write(this.#silence, this.#silence);
  }

  /** Writes what is left. Idempotent: the same report each time. Never rejects. */
  close(): Promise<RecordingReport> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  #handOver(): void {
    if (this.#waiting.length >= MAX_WAITING_CHUNKS) {
      this.#fail('the disk does not keep up');
      return;
    }
    this.#waiting.push(this.#chunk.subarray(0, this.#chunkLength));
    this.#chunk = this.#free.pop() ?? new Int16Array(this.#chunkSamples);
    this.#chunkLength = 0;
    if (!this.#isWriting) this.#writing = this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    try {
      for (let chunk = this.#waiting[0]; chunk !== undefined; chunk = this.#waiting[0]) {
        await this.#append(chunk);
        this.#waiting.shift();
        this.#free.push(new Int16Array(chunk.buffer));
        if (this.#error !== undefined) return;
      }
    } catch (error) {
      this.#fail(describe(error));
    } finally {
      this.#isWriting = false;
    }
  }

  /** Data first: the header never promises what is not there. */
  async #append(chunk: Int16Array): Promise<void> {
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const dataBytes = this.#dataBytes + bytes.length;
    if (dataBytes > WAV_MAX_DATA_BYTES) throw new Error('the file is as long as a WAV file can be');
    await this.#file.write(bytes, WAV_HEADER_BYTES + this.#dataBytes);
    await this.#file.write(wavHeader({ sampleRateHz: this.sampleRateHz, channels: CHANNELS }, dataBytes), 0);
    this.#dataBytes = dataBytes;
  }

  #fail(reason: string): void {
    if (this.#error !== undefined) return;
    this.#error = reason;
    this.#waiting.length = 0;
    this.#onFailure(reason);
  }

  async #finish(): Promise<RecordingReport> {
    if (this.#error === undefined && this.#chunkLength > 0) this.#handOver();
    await this.#writing;
    await this.#file.close().catch((error: unknown) => this.#fail(describe(error)));
    const report = {
      path: this.#path,
      durationMs: (1000 * this.#dataBytes) / (this.sampleRateHz * CHANNELS * BYTES_PER_SAMPLE),
      lengthBytes: WAV_HEADER_BYTES + this.#dataBytes,
    };
    return this.#error === undefined ? report : { ...report, error: this.#error };
  }
}

/** @returns Why a file could not be written, for the operator. */
export function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC') return 'the disk is full (ENOSPC)';
  return error instanceof Error ? error.message : String(error);
}
