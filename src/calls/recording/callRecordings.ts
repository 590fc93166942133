import type { Call, RecordingResult } from '../call.ts';

/** Where recordings lie; the names of their files are the calls' to keep. */
export interface CallRecordings {
  /** A signed address that needs no key; undefined where nothing can be fetched. */
  url(key: string): string | undefined;
  /** What reached the disk of a call whose node died. Never fails: what cannot be had has failed. */
  recover(call: Call): Promise<RecordingResult>;
  /** Idempotent. */
  remove(key: string): Promise<void>;
}
