import type { Call, RecordingResult } from '../calls/call.ts';
import type { CallRecordings } from '../calls/recording/callRecordings.ts';
import { recordingKey } from '../calls/runner/endCall.ts';
import {
  recordingFileDurationMs,
  storedRecordingDurationMs,
} from '../infra/objectStore/recordings/recordingDuration.ts';
import type { Recordings } from './recordings.ts';

/** Calls' recordings in the store of the settings. */
export function callRecordings(
  { store, urls, working }: Recordings,
  onError: (error: unknown, what: string) => void,
): CallRecordings {
  const recover = async (call: Call): Promise<RecordingResult> => {
    const path = working.pathOf(call.id);
    const key = recordingKey(call);
    const leftMs = await recordingFileDurationMs(path);
    if (leftMs !== undefined) await store.save(path, key);
    // Its node may have been lost just after it had given the recording away.
    const durationMs = leftMs ?? (await storedRecordingDurationMs(store, key));
    if (durationMs === undefined) return lost('The node that recorded it was lost');
    return { status: 'ready', key, durationMs, error: null };
  };
  return {
    url: (key) => urls.sign(key),
    remove: (key) => store.remove(key),
    recover: (call) =>
      recover(call).catch((error: unknown) => {
        onError(error, 'what was left of a recording could not be stored');
        return lost('What was left of it could not be stored');
      }),
  };
}

function lost(error: string): RecordingResult {
  return { status: 'failed', key: null, durationMs: null, error };
}
