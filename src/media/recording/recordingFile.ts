import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseWav, WAV_HEADER_BYTES, wavHeader } from '../wav.ts';

const BYTES_PER_SAMPLE = 2;

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
 * Completes the file of a writer that has died: its header gets the length that the file has, in whole frames.
 *
 * @returns Length of the recording; undefined when the file is missing or has no audio.
 * @throws {CallwayError} `wav_invalid` when the file is not a recording; the system's error when it cannot be written.
 */
export async function completeRecording(
  path: string,
): Promise<{ readonly durationMs: number; readonly bytes: number } | undefined> {
  const file = await open(path, 'r+').catch(ignoreMissing);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size <= WAV_HEADER_BYTES) return undefined;
    const header = new Uint8Array(WAV_HEADER_BYTES);
    await file.read(header, 0, WAV_HEADER_BYTES, 0);
    const format = parseWav(header);
    const frameBytes = BYTES_PER_SAMPLE * format.channels;
    const frames = Math.floor((size - WAV_HEADER_BYTES) / frameBytes);
    const bytes = WAV_HEADER_BYTES + frames * frameBytes;
    await writeWhole(file, wavHeader(format, frames * frameBytes), 0);
    await file.truncate(bytes);
    return { durationMs: Math.round((1000 * frames) / format.sampleRateHz), bytes };
  } finally {
    await file.close();
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
