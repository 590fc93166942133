import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  type RecordingStore,
  requireRecordingKey,
  resolveByteRange,
} from '../../../calls/recording/recordingStore.ts';
import type { Bucket } from '../bucket.ts';

/** The prefix of recordings; the bucket also holds documents. */
const PREFIX = 'recordings/';

/** Creates a store of recordings in an S3-compatible bucket. */
export function bucketRecordings(bucket: Bucket): RecordingStore {
  const objectOf = (key: string): string => {
    requireRecordingKey(key);
    return PREFIX + key;
  };
  return {
    async save(localPath, key) {
      const object = objectOf(key);
      try {
        await bucket.put(object, createReadStream(localPath), 'audio/wav');
      } catch (error) {
        if (!isMissing(error) || (await bucket.lengthOf(object)) === undefined) throw error;
      }
      await rm(localPath, { force: true });
    },
    async open(key, range) {
      const object = objectOf(key);
      const totalBytes = await bucket.lengthOf(object);
      if (totalBytes === undefined) return undefined;
      const { first, last } = resolveByteRange(range, totalBytes);
      if (totalBytes === 0) return { stream: Readable.from([]), totalBytes, first, last };
      const stream = await bucket.read(object, { first, last });
      return stream && { stream, totalBytes, first, last };
    },
    async remove(key) {
      await bucket.remove(objectOf(key));
      return true;
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
