import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

import type { RecordingLength, RecordingStore } from '../../../calls/recording/recordingStore.ts';
import { WAV_HEADER_BYTES } from '../../../media/wav.ts';

/** Offset of the byte rate in the header. @see http://soundfile.sapp.org/doc/WaveFormat/ */
const BYTE_RATE_AT = 28;

/**
 * Length of a recording file that its writer may not have completed.
 *
 * @returns Undefined when the file does not exist or is empty.
 */
export async function recordingFileLength(path: string): Promise<RecordingLength | undefined> {
  const file = await open(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(WAV_HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, WAV_HEADER_BYTES, 0);
    return lengthOf(header.subarray(0, bytesRead), size);
  } finally {
    await file.close();
  }
}

/** Length of a stored recording. @returns Undefined when it does not exist. */
export async function storedRecordingLength(
  store: Pick<RecordingStore, 'open'>,
  key: string,
): Promise<RecordingLength | undefined> {
  const kept = await store.open(key, { first: 0, last: WAV_HEADER_BYTES - 1 });
  return kept && lengthOf(await buffer(kept.stream), kept.totalBytes);
}

function lengthOf(header: Buffer, totalBytes: number): RecordingLength | undefined {
  const byteRate = header.length === WAV_HEADER_BYTES ? header.readUInt32LE(BYTE_RATE_AT) : 0;
  if (byteRate === 0 || totalBytes <= WAV_HEADER_BYTES) return undefined;
  const durationMs = Math.round(((totalBytes - WAV_HEADER_BYTES) * 1000) / byteRate);
  return { durationMs, bytes: totalBytes };
}
