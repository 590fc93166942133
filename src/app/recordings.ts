import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { RecordingStore } from '../calls/recording/recordingStore.ts';
import { createRecordingUrls, type RecordingUrls } from '../calls/recording/recordingUrls.ts';
import type { Bucket } from '../infra/objectStore/bucket.ts';
import { bucketRecordings } from '../infra/objectStore/recordings/bucketRecordings.ts';
import { localRecordings } from '../infra/objectStore/recordings/localRecordings.ts';
import { createWorkingFolder, type WorkingFolder } from '../infra/objectStore/recordings/workingFolder.ts';
import type { Config } from './settings/config.ts';

export interface RecordingParts {
  readonly config: Config;
  readonly bucket: Bucket | undefined;
  readonly secretsKey: Uint8Array;
  readonly publicUrl: () => string;
  readonly clock: Clock;
}

export interface Recordings {
  readonly store: RecordingStore;
  readonly urls: RecordingUrls;
  readonly working: WorkingFolder;
}

/** Recordings in the bucket of the settings, or in the data folder. */
export function buildRecordings({
  config,
  bucket,
  secretsKey,
  publicUrl,
  clock,
}: RecordingParts): Recordings {
  return {
    store: bucket ? bucketRecordings(bucket) : localRecordings(join(config.DATA_DIR, 'recordings')),
    urls: createRecordingUrls({
      secretsKey,
      previousKeys: config.SECRETS_KEY_PREVIOUS,
      publicUrl,
      now: clock.now,
    }),
    working: createWorkingFolder(join(config.DATA_DIR, 'recordings-in-progress')),
  };
}
