import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { RecordingStore } from '../calls/recordingStore.ts';
import type { Config } from '../config/config.ts';
import { createLocalStore } from '../recording/localStore.ts';
import { createRecordingUrls, type RecordingUrls } from '../recording/signedUrl.ts';
import { createWorkingFolder, type WorkingFolder } from '../recording/workingFolder.ts';
import type { Closers } from './conversation.ts';

export interface RecordingParts {
  readonly config: Config;
  readonly secretsKey: Uint8Array;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly closers: Closers;
}

export interface Recordings {
  readonly store: RecordingStore;
  readonly urls: RecordingUrls;
  readonly working: WorkingFolder;
}

/** Recordings in the bucket of the settings, or in the data folder. */
export async function buildRecordings({
  config,
  secretsKey,
  publicUrl,
  clock,
  closers,
}: RecordingParts): Promise<Recordings> {
  return {
    store: await (config.S3_BUCKET === undefined
      ? localStore(config)
      : s3Store(config, config.S3_BUCKET, closers)),
    urls: createRecordingUrls({ secretsKey, publicUrl, now: clock.now }),
    working: createWorkingFolder(join(config.DATA_DIR, 'recordings-in-progress')),
  };
}

function localStore(config: Config): RecordingStore {
  return createLocalStore(join(config.DATA_DIR, 'recordings'));
}

async function s3Store(config: Config, bucket: string, closers: Closers): Promise<RecordingStore> {
  // The SDK takes a good part of a second to load, which nobody should wait for in vain.
  const { createS3Store } = await import('../recording/s3Store.ts');
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const hasKeys = accessKeyId !== undefined && secretAccessKey !== undefined;
  const store = createS3Store({
    bucket,
    region: config.S3_REGION,
    forcePathStyle: config.S3_FORCE_PATH_STYLE,
    ...(config.S3_ENDPOINT === undefined ? {} : { endpoint: config.S3_ENDPOINT }),
    ...(hasKeys ? { credentials: { accessKeyId, secretAccessKey } } : {}),
  });
  closers.push(async () => store.close());
  return store;
}
