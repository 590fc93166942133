import type { Readable } from 'node:stream';

/** Finished recordings, in a folder or a bucket. Keys are names like `project/call.wav`. */
export interface RecordingStore extends RecordingReader {
  /** Moves a finished file into the store. May be repeated for a file that was moved before. */
  save(localPath: string, key: string): Promise<void>;
  /** Idempotent. @returns True when it is gone from all nodes: a folder knows it only of a file that it had. */
  remove(key: string): Promise<boolean>;
}

/** What opens recordings, also those of other nodes. */
export interface RecordingReader {
  /**
   * Opens a recording, or a range of it, for reading.
   *
   * @returns Undefined when there is no such recording.
   * @throws {RangeNotSatisfiableError} When the range starts behind the end.
   */
  open(key: string, range?: ByteRange): Promise<OpenRecording | undefined>;
}

/** The length of a recording. */
export interface RecordingLength {
  readonly durationMs: number;
  readonly bytes: number;
}

/** Bytes from `first` to `last`, both included, or to the end; or the last `suffixLength` bytes. */
export type ByteRange =
  | { readonly first: number; readonly last?: number }
  | { readonly suffixLength: number };

export interface OpenRecording {
  /** The caller reads it to its end, or destroys it. */
  readonly stream: Readable;
  /** The size of the whole recording. */
  readonly totalBytes: number;
  /** First and last byte in the stream, both included. */
  readonly first: number;
  readonly last: number;
}

/** The error for a range that contains no byte of the recording. */
export class RangeNotSatisfiableError extends Error {
  readonly totalBytes: number;

  constructor(totalBytes: number) {
    super(`the range lies outside of ${totalBytes} bytes`);
    this.name = 'RangeNotSatisfiableError';
    this.totalBytes = totalBytes;
  }
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const MAX_KEY_LENGTH = 200;

/** @throws {RangeError} For a key that could leave the store: `..`, a leading `/`, an empty part. */
export function requireRecordingKey(key: string): void {
  if (!KEY.test(key) || key.length > MAX_KEY_LENGTH) {
    throw new RangeError(`${JSON.stringify(key)} is no recording's key`);
  }
}

/**
 * Resolves a range for a recording of this length.
 *
 * @throws {RangeNotSatisfiableError}
 * @see RFC 9110 section 14.1.2
 */
export function resolveByteRange(
  range: ByteRange | undefined,
  totalBytes: number,
): { readonly first: number; readonly last: number } {
  const end = totalBytes - 1;
  if (range === undefined) return { first: 0, last: end };
  const isSuffix = 'suffixLength' in range;
  const first = isSuffix ? Math.max(0, totalBytes - range.suffixLength) : range.first;
  const last = isSuffix ? end : Math.min(end, range.last ?? end);
  if (first > last) throw new RangeNotSatisfiableError(totalBytes);
  return { first, last };
}
