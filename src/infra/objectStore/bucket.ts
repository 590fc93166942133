import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

export interface BucketOptions {
  readonly bucket: string;
  readonly region: string;
  /** For stores other than AWS. */
  readonly endpoint?: string;
  /** Without them those of the environment, as the SDK finds them. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Put the bucket into the path. */
  readonly forcePathStyle: boolean;
}

/** One bucket of an S3-compatible store. Whoever keeps objects in it begins their keys with a prefix of their own. */
export interface Bucket {
  /**
   * Keeps what comes as one object, in parts where it is longer than 5 MiB; nothing is kept when `body` breaks off.
   *
   * @throws {Error} What `body` ended with, or what the store said.
   */
  put(key: string, body: Readable, contentType: string): Promise<void>;
  /** @returns In bytes; undefined where there is no such object. */
  lengthOf(key: string): Promise<number | undefined>;
  /**
   * @param range - Bytes, both included; without it all.
   * @returns To be read to its end, or destroyed; undefined where there is no such object.
   */
  read(key: string, range?: { readonly first: number; readonly last: number }): Promise<Readable | undefined>;
  /** Idempotent. */
  remove(key: string): Promise<void>;
  close(): void;
}

/** Parts that are on their way at a time, each of 5 MiB in memory. */
const PARTS_AT_ONCE = 2;
const HTTP_NOT_FOUND = 404;

export function openBucket(options: BucketOptions): Bucket {
  const { bucket: Bucket, region, endpoint, credentials, forcePathStyle } = options;
  const client = new S3Client({
    region,
    forcePathStyle,
    // Other stores do not know the newer checksums, and the connection has its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  return {
    async put(Key, Body, ContentType) {
      const params = { Bucket, Key, Body, ContentType };
      try {
        await new Upload({ client, params, queueSize: PARTS_AT_ONCE }).done();
      } catch (error) {
        // Taking the parts back may fail too, which is not what went wrong first.
        throw Body.errored ?? error;
      } finally {
        Body.destroy();
      }
    },
    async lengthOf(Key) {
      const head = await client.send(new HeadObjectCommand({ Bucket, Key })).catch(ignoreMissing);
      return head && (head.ContentLength ?? 0);
    },
    async read(Key, range) {
      const Range = range && { Range: `bytes=${range.first}-${range.last}` };
      const object = await client.send(new GetObjectCommand({ Bucket, Key, ...Range })).catch(ignoreMissing);
      return object?.Body instanceof Readable ? object.Body : undefined;
    },
    async remove(Key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },
    close: () => client.destroy(),
  };
}

function ignoreMissing(error: unknown): undefined {
  const isMissing = error instanceof S3ServiceException && error.$metadata.httpStatusCode === HTTP_NOT_FOUND;
  if (!isMissing) throw error;
}
