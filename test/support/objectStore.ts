import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import { onTestFinished } from 'vitest';

import { type Bucket, openBucket } from '../../src/infra/objectStore/bucket.ts';
import { tempDir } from './tempDir.ts';

const BUCKET = 'callway';
const KEY = 'S3RVER';

/** Starts an S3 server with one empty bucket for the running test. */
export async function startObjectStore() {
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: tempDir(),
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { port } = (await server.run()) as AddressInfo;
  onTestFinished(() => server.close());
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    /** The service's settings for this store. */
    env: {
      S3_BUCKET: BUCKET,
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: KEY,
      S3_SECRET_ACCESS_KEY: KEY,
      S3_FORCE_PATH_STYLE: 'true',
    },
  };
}

/** Opens the bucket of a new store. */
export async function testBucket(): Promise<Bucket> {
  const { endpoint } = await startObjectStore();
  const bucket = openBucket({
    bucket: BUCKET,
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: KEY, secretAccessKey: KEY },
    forcePathStyle: true,
  });
  onTestFinished(() => bucket.close());
  return bucket;
}
