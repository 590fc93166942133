import type { Bucket } from '../../infra/objectStore/bucket.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';

/** Opens the configured bucket; undefined when files are in the data folder. */
export async function openObjectStore(config: Config, lifecycle: Lifecycle): Promise<Bucket | undefined> {
  if (config.S3_BUCKET === undefined) return undefined;
  // Loading the SDK takes a large part of a second.
  const { openBucket } = await import('../../infra/objectStore/bucket.ts');
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const hasKeys = accessKeyId !== undefined && secretAccessKey !== undefined;
  const bucket = openBucket({
    bucket: config.S3_BUCKET,
    region: config.S3_REGION,
    forcePathStyle: config.S3_FORCE_PATH_STYLE,
    endpoint: config.S3_ENDPOINT,
    credentials: hasKeys ? { accessKeyId, secretAccessKey } : undefined,
  });
  lifecycle.onClose(async () => bucket.close());
  return bucket;
}
