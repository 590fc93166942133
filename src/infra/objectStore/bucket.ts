import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { boundedBody, MAX_DOCUMENT_BYTES, MAX_ERROR_BYTES } from '../../http/response.ts';

export interface BucketOptions {
  readonly bucket: string;
  readonly region: string;
  /** The endpoint of stores other than AWS; undefined for AWS. */
  readonly endpoint?: string;
  /** The credentials. Default: the SDK's credential chain. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** True when the URL path contains the bucket name. */
  readonly forcePathStyle: boolean;
  /** Default: {@link SILENCE_MS}. */
  readonly silenceMs?: number;
}

/** A bucket of an S3-compatible store. Its users share it with a key prefix each. */
export interface Bucket {
  /**
   * Stores a stream as one object, as a multipart upload above 5 MiB. Stores nothing when `body` fails.
   *
   * @throws {Error} The error of `body` or of the store.
   */
  put(key: string, body: Readable, contentType: string): Promise<void>;
  /** @returns Length in bytes; undefined when the object does not exist. */
  lengthOf(key: string): Promise<number | undefined>;
  /**
   * @param range - First and last byte, inclusive; default all.
   * @returns The caller reads it to its end or destroys it; undefined when the object does not exist.
   */
  read(key: string, range?: { readonly first: number; readonly last: number }): Promise<Readable | undefined>;
  /** Idempotent. */
  remove(key: string): Promise<void>;
  close(): void;
}

/** A store that has not answered by then is asked again, three times in all; a call's end waits for its recording. */
const SILENCE_MS = 15_000;
/** Concurrent parts of an upload, 5 MiB of memory each. */
const PARTS_AT_ONCE = 2;
const HTTP_NOT_FOUND = 404;

export function openBucket(options: BucketOptions): Bucket {
  const { bucket: Bucket, region, endpoint, credentials, forcePathStyle } = options;
  const { silenceMs = SILENCE_MS } = options;
  const open = (requestHandler: NonNullable<S3ClientConfig['requestHandler']>) => {
    const client = new S3Client({
      region,
      forcePathStyle,
      // Other stores do not support the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      endpoint,
      credentials,
      requestHandler,
    });
    boundAnswers(client);
    return client;
  };
  // A reader may take its time with an object; an upload may take long on a slow line.
  const client = open({ requestTimeout: silenceMs, throwOnRequestTimeout: true });
  const uploader = open({ connectionTimeout: silenceMs, socketTimeout: silenceMs });
  return {
    async put(Key, Body, ContentType) {
      const params = { Bucket, Key, Body, ContentType };
      try {
        await new Upload({ client: uploader, params, queueSize: PARTS_AT_ONCE }).done();
      } catch (error) {
        // The abort of the upload may fail too; report the first error.
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
    close() {
      client.destroy();
      uploader.destroy();
    },
  };
}

/** The SDK reads errors and documents whole; an object is a stream, which its reader bounds. */
function boundAnswers({ middlewareStack }: S3Client): void {
  middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const { response } = result;
        if (!isHttpAnswer(response)) return result;
        const isError = response.statusCode >= 300;
        if (isError || commandName !== 'GetObjectCommand') {
          const body = boundedBody(
            Readable.toWeb(response.body),
            isError ? MAX_ERROR_BYTES : MAX_DOCUMENT_BYTES,
          );
          response.body = Readable.fromWeb(body);
        }
        return result;
      },
    { step: 'deserialize', priority: 'low' },
  );
}

function isHttpAnswer(response: unknown): response is { readonly statusCode: number; body: Readable } {
  return (
    typeof response === 'object' &&
    response !== null &&
    'body' in response &&
    response.body instanceof Readable
  );
}

function ignoreMissing(error: unknown): undefined {
  const isMissing = error instanceof S3ServiceException && error.$metadata.httpStatusCode === HTTP_NOT_FOUND;
  if (!isMissing) throw error;
}
