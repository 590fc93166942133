import type { RecordingReport } from '../mediaSession.ts';
import { frameLength } from '../resample/frameResampler.ts';
import { interleaveStereo, WAV_HEADER_BYTES, WAV_MAX_DATA_BYTES, wavHeader } from '../wav.ts';
import type { OpenRecordingFile, RecordingFile } from './recordingFile.ts';

export interface RecorderOptions {
  readonly path: string;
  readonly sampleRateHz: 8000 | 16_000;
  /** Called once; nothing is written after it. */
  readonly onFailure: (reason: string) => void;
  readonly openFile: OpenRecordingFile;
}

const CHANNELS = 2;
const BYTES_PER_SAMPLE = 2;
/** The size of a chunk; a killed process loses at most one. */
const CHUNK_SECONDS = 1;
/** A slower disk fails the recording. More than what a stall of the thread adds at once, which is ten seconds. */
const MAX_WAITING_CHUNKS = 16;

/**
 * Records both directions of a call in one file: the caller left, the agent right, frame by frame on the tick clock.
 * `write` copies and returns, even before the file is open. Whole seconds are written in the background, one write
 * each. The header gets the length at the end; after a writer was killed, the file's length counts. The first write
 * error ends the recording, and the call continues.
 */
export class StereoRecorder {
  readonly sampleRateHz: 8000 | 16_000;
  readonly #options: RecorderOptions;
  /** The file; undefined until it is open. */
  #file: RecordingFile | undefined;
  readonly #silence: Int16Array;
  readonly #chunkSamples: number;
  /** The chunks to reuse. */
  readonly #free: Int16Array[] = [];
  #chunk: Int16Array;
  #chunkLength = 0;
  readonly #waiting: Int16Array[] = [];
  #writing: Promise<void> = Promise.resolve();
  /** True while a write is in progress or the file is not open yet. */
  #isWriting = true;
  #dataBytes = 0;
  #error: string | undefined;
  #closed: Promise<RecordingReport> | undefined;

  constructor(options: RecorderOptions) {
    const { sampleRateHz } = options;
    this.#options = options;
    this.sampleRateHz = sampleRateHz;
    this.#silence = new Int16Array(frameLength(sampleRateHz));
    this.#chunkSamples = CHUNK_SECONDS * sampleRateHz * CHANNELS;
    this.#chunk = new Int16Array(this.#chunkSamples);
  }

  /**
   * Creates an empty, valid file. To be called once, and awaited before `close`.
   *
   * @throws {Error} When the file cannot be created or written.
   */
  async open(): Promise<void> {
    const file = await this.#options.openFile(this.#options.path);
    try {
      await file.write(headerOf(this, 0), 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#file = file;
    this.#writing = this.#writeWaiting();
  }

  /** @param left - 20 ms of the caller. @param right - 20 ms of the agent. Both are copied. */
  write(left: Int16Array, right: Int16Array): void {
    if (this.#error !== undefined || this.#closed !== undefined) return;
    const room = this.#chunk.subarray(this.#chunkLength);
    this.#chunkLength += interleaveStereo(left, right, room);
    if (this.#chunkLength === this.#chunkSamples) this.#queueChunk();
  }

  /** Writes silence for frames without audio. */
  writeSilence(frames: number): void {
    for (let n = 0; n < frames; n++) this.write(this.#silence, this.#silence);
  }

  /** Writes the rest. Idempotent: the same report each time. Never rejects. */
  close(): Promise<RecordingReport> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  #queueChunk(): void {
    if (this.#waiting.length >= MAX_WAITING_CHUNKS) {
      this.#fail('the disk is too slow');
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

  async #append(chunk: Int16Array): Promise<void> {
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const dataBytes = this.#dataBytes + bytes.length;
    if (dataBytes > WAV_MAX_DATA_BYTES) throw new Error('the file has the maximum length of a WAV file');
    await this.#file?.write(bytes, WAV_HEADER_BYTES + this.#dataBytes);
    this.#dataBytes = dataBytes;
  }

  #fail(reason: string): void {
    if (this.#error !== undefined) return;
    this.#error = reason;
    this.#waiting.length = 0;
    this.#options.onFailure(reason);
  }

  async #finish(): Promise<RecordingReport> {
    if (this.#error === undefined && this.#chunkLength > 0) this.#queueChunk();
    await this.#writing;
    const fail = (error: unknown) => this.#fail(describe(error));
    // Also after an error: what was written before it stays valid.
    if (this.#dataBytes > 0) await this.#file?.write(headerOf(this, this.#dataBytes), 0).catch(fail);
    await this.#file?.close().catch(fail);
    const report = {
      path: this.#options.path,
      durationMs: (1000 * this.#dataBytes) / (this.sampleRateHz * CHANNELS * BYTES_PER_SAMPLE),
      lengthBytes: WAV_HEADER_BYTES + this.#dataBytes,
    };
    return this.#error === undefined ? report : { ...report, error: this.#error };
  }
}

function headerOf({ sampleRateHz }: { readonly sampleRateHz: number }, dataBytes: number): Uint8Array {
  return wavHeader({ sampleRateHz, channels: CHANNELS }, dataBytes);
}

/** @returns The reason for which a file could not be written. */
function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC') return 'the disk is full (ENOSPC)';
  return error instanceof Error ? error.message : String(error);
}
