import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RecordingReport } from '../mediaSession.ts';
import { parseWav, WAV_HEADER_BYTES } from '../wav.ts';

/** The file that a recorder writes; positions in bytes from the start. */
export interface RecordingFile {
  /** Writes all of it. @throws {Error} With the system's `code`, such as `ENOSPC`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenRecordingFile = (path: string) => Promise<RecordingFile>;

/** Creates or truncates the file, and creates its folders. */
export const openRecordingFile: OpenRecordingFile = async (path) => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'w', 0o600);
  return { write: (bytes, position) => writeWhole(file, bytes, position), close: () => file.close() };
};

/** A nearly full disk takes a part and fails only the next time. */
async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/**
 * Reports on a recording whose writer has died.
 *
 * @param error - Why the recording is incomplete.
 * @throws {CallwayError} `wav_invalid` when the file is not a recording; the system's error when it cannot be read.
 */
export async function inspectRecording(path: string, error: string): Promise<RecordingReport> {
  const file = await open(path, 'r');
  try {
    const header = new Uint8Array(WAV_HEADER_BYTES);
    await file.read(header, 0, WAV_HEADER_BYTES, 0);
    const { sampleRateHz, channels } = parseWav(header);
    const announcedBytes = Buffer.from(header.buffer).readUInt32LE(WAV_HEADER_BYTES - 4);
    const { size } = await stat(path);
    const dataBytes = Math.min(announcedBytes, Math.max(0, size - WAV_HEADER_BYTES));
    return {
      path,
      durationMs: (1000 * dataBytes) / (2 * channels * sampleRateHz),
      lengthBytes: WAV_HEADER_BYTES + dataBytes,
      error,
    };
  } finally {
    await file.close();
  }
}
