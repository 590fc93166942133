import { buffer } from 'node:stream/consumers';
import type { RecordingLength, RecordingStore } from '../../../calls/recording/recordingStore.ts';
import { WAV_HEADER_BYTES } from '../../../media/wav.ts';

/** Offset of the byte rate in the header. @see http://soundfile.sapp.org/doc/WaveFormat/ */
const BYTE_RATE_AT = 28;

/** Length of a stored recording. @returns Undefined when it does not exist. */
export async function storedRecordingLength(
  store: RecordingStore,
  key: string,
): Promise<RecordingLength | undefined> {
  const kept = await store.open(key, { first: 0, last: WAV_HEADER_BYTES - 1 });
  if (!kept) return undefined;
  const header = await buffer(kept.stream);
  const bytes = kept.totalBytes;
  const byteRate = header.length === WAV_HEADER_BYTES ? header.readUInt32LE(BYTE_RATE_AT) : 0;
  if (byteRate === 0 || bytes <= WAV_HEADER_BYTES) return undefined;
  return { durationMs: Math.round(((bytes - WAV_HEADER_BYTES) * 1000) / byteRate), bytes };
}
