import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { CallRecordings } from '../../calls/recording/callRecordings.ts';
import type { RecordingStore } from '../../calls/recording/recordingStore.ts';
import { createRecordingUrls, type RecordingUrls } from '../../calls/recording/recordingUrls.ts';
import type { Bucket } from '../../infra/objectStore/bucket.ts';
import { bucketRecordings } from '../../infra/objectStore/recordings/bucketRecordings.ts';
import { localRecordings } from '../../infra/objectStore/recordings/localRecordings.ts';
import {
  recordingFileDurationMs,
  storedRecordingDurationMs,
} from '../../infra/objectStore/recordings/recordingDuration.ts';
import { createWorkingFolder } from '../../infra/objectStore/recordings/workingFolder.ts';
import type { Config } from '../settings/config.ts';

export interface RecordingParts {
  readonly config: Config;
  readonly bucket: Bucket | undefined;
  readonly secretsKey: Uint8Array;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

export interface BuiltRecordings {
  readonly store: RecordingStore;
  readonly urls: RecordingUrls;
  readonly calls: CallRecordings;
}

/** Recordings in the configured bucket, or in the data folder. */
export function buildRecordings(parts: RecordingParts): BuiltRecordings {
  const { config, bucket, secretsKey, publicUrl, clock, onError } = parts;
  const store = bucket ? bucketRecordings(bucket) : localRecordings(join(config.DATA_DIR, 'recordings'));
  const urls = createRecordingUrls({
    secretsKey,
    previousKeys: config.SECRETS_KEY_PREVIOUS,
    publicUrl,
    now: clock.now,
  });
  const calls = new CallRecordings({
    recordingStore: store,
    urls,
    pathOf: createWorkingFolder(join(config.DATA_DIR, 'recordings-in-progress')).pathOf,
    fileDurationMs: recordingFileDurationMs,
    storedDurationMs: (key) => storedRecordingDurationMs(store, key),
    onError,
  });
  return { store, urls, calls };
}
