import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { placeRange, type RecordingStore, requireKey } from '../calls/recordingStore.ts';

export interface S3StoreOptions {
  readonly bucket: string;
  readonly region: string;
  /** For stores other than AWS. */
  readonly endpoint?: string;
  /** Without them those of the environment, as the SDK finds them. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Put the bucket into the path. */
  readonly forcePathStyle: boolean;
}

/** Recordings lie below it, so that a bucket may hold other things, too. */
const PREFIX = 'recordings/';
const HTTP_NOT_FOUND = 404;

/** Recordings as objects of an S3-compatible store; those longer than 5 MiB are uploaded in parts. */
export function createS3Store(options: S3StoreOptions): RecordingStore & { close(): void } {
  const { bucket, region, endpoint, credentials, forcePathStyle } = options;
  const client = new S3Client({
    region,
    forcePathStyle,
    // Other stores do not know the newer checksums, and the connection has its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  const objectOf = (key: string) => {
    requireKey(key);
    return { Bucket: bucket, Key: PREFIX + key };
  };
  return {
    async keep(localPath, key) {
      const Body = createReadStream(localPath);
      const upload = new Upload({ client, params: { ...objectOf(key), Body, ContentType: 'audio/wav' } });
      try {
        await upload.done();
      } finally {
        Body.destroy();
      }
      await rm(localPath, { force: true });
    },
    async open(key, range) {
      const object = objectOf(key);
      const head = await client.send(new HeadObjectCommand(object)).catch(ignoreMissing);
      if (head === undefined) return undefined;
      const totalBytes = head.ContentLength ?? 0;
      const { first, last } = placeRange(range, totalBytes);
      if (totalBytes === 0) return { stream: Readable.from([]), totalBytes, first, last };
      const part = new GetObjectCommand({ ...object, Range: `bytes=${first}-${last}` });
      const { Body } = (await client.send(part).catch(ignoreMissing)) ?? {};
      if (!(Body instanceof Readable)) return undefined;
      return { stream: Body, totalBytes, first, last };
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand(objectOf(key)));
    },
    close: () => client.destroy(),
  };
}

function ignoreMissing(error: unknown): undefined {
  const isMissing = error instanceof S3ServiceException && error.$metadata.httpStatusCode === HTTP_NOT_FOUND;
  if (!isMissing) throw error;
}
