import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

import type { RecordingStore } from '../../../calls/recording/recordingStore.ts';
import { WAV_HEADER_BYTES } from '../../../media/wav.ts';

/** Where the header has bytes per second. @see http://soundfile.sapp.org/doc/WaveFormat/ */
const BYTE_RATE_AT = 28;

/**
 * How much of a recording reached the disk, whose writer may have been killed.
 *
 * @returns Undefined where there is no such file, or nothing in it.
 */
export async function recordingFileDurationMs(path: string): Promise<number | undefined> {
  const file = await open(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(WAV_HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, WAV_HEADER_BYTES, 0);
    return durationMs(header.subarray(0, bytesRead), size);
  } finally {
    await file.close();
  }
}

/** How long a recording is that was given to the store. @returns Undefined where it has none of this name. */
export async function storedRecordingDurationMs(
  store: Pick<RecordingStore, 'open'>,
  key: string,
): Promise<number | undefined> {
  const kept = await store.open(key, { first: 0, last: WAV_HEADER_BYTES - 1 });
  return kept && durationMs(await buffer(kept.stream), kept.totalBytes);
}

function durationMs(header: Buffer, totalBytes: number): number | undefined {
  const byteRate = header.length === WAV_HEADER_BYTES ? header.readUInt32LE(BYTE_RATE_AT) : 0;
  if (byteRate === 0 || totalBytes <= WAV_HEADER_BYTES) return undefined;
  return Math.round(((totalBytes - WAV_HEADER_BYTES) * 1000) / byteRate);
}
