import { join } from 'node:path';
import { requireQuota } from '../../agents/accounts/quotas.ts';
import type { Storage } from '../../api/ports.ts';
import type { Clock } from '../../base/clock.ts';
import { CallRecordings } from '../../calls/recording/callRecordings.ts';
import type { RecordingStore } from '../../calls/recording/recordingStore.ts';
import { createRecordingUrls, type RecordingUrls } from '../../calls/recording/recordingUrls.ts';
import type { Bucket } from '../../infra/objectStore/bucket.ts';
import { bucketRecordings } from '../../infra/objectStore/recordings/bucketRecordings.ts';
import { localRecordings } from '../../infra/objectStore/recordings/localRecordings.ts';
import { storedRecordingLength } from '../../infra/objectStore/recordings/recordingLength.ts';
import { createWorkingFolder } from '../../infra/objectStore/recordings/workingFolder.ts';
import { completeRecording } from '../../media/recording/recordingFile.ts';
import type { Config } from '../settings/config.ts';

export interface RecordingParts {
  readonly config: Config;
  readonly bucket: Bucket | undefined;
  readonly storage: Storage;
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
  const { config, bucket, storage, secretsKey, publicUrl, clock, onError } = parts;
  const store = bucket ? bucketRecordings(bucket) : localRecordings(join(config.DATA_DIR, 'recordings'));
  const urls = createRecordingUrls({
    secretsKey,
    previousKeys: config.SECRETS_KEY_PREVIOUS,
    publicUrl,
    now: clock.now,
  });
  const working = createWorkingFolder(join(config.DATA_DIR, 'recordings-in-progress'));
  const calls = new CallRecordings({
    recordingStore: store,
    urls,
    pathOf: working.pathOf,
    workingCallIds: working.callIds,
    completeFile: completeRecording,
    storedLength: (key) => storedRecordingLength(store, key),
    requireRoom: (projectId, bytes) => requireQuota(storage.stores, projectId, 'storedBytes', bytes),
    onError,
  });
  return { store, urls, calls };
}
