import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { CallwayError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/values/clock.ts';
import {
  type ByteRange,
  type OpenRecording,
  RangeNotSatisfiableError,
  type RecordingReader,
  type RecordingStore,
} from '../../../calls/recording/recordingStore.ts';

/** The timeout for connection and headers. The node has just confirmed that it has the recording. */
const HEADERS_TIMEOUT_MS = 5_000;
const CONTENT_RANGE = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+)$/;

export interface NodeRecordingsDeps {
  /** The recording store of this node. */
  readonly local: RecordingStore;
  /** Returns true when the recording's call still has it. */
  readonly isKept: (key: string) => Promise<boolean>;
  /** @returns A signed URL at the node that has it; undefined when no node answers. */
  readonly locate: (key: string) => Promise<string | undefined>;
  readonly clock: Clock;
}

/**
 * Recordings in the folders of all nodes: one that this node lacks is read from the node that has it. Opening rejects with
 * 503 `recording_unavailable` where no node answers.
 */
export function nodeRecordings(deps: NodeRecordingsDeps): RecordingReader {
  const { local, isKept, locate, clock } = deps;
  return {
    async open(key, range) {
      const own = await local.open(key, range);
      if (own || !(await isKept(key))) return own;
      const url = await locate(key);
      if (url === undefined) throw unavailable();
      const response = await getHeaders(url, range, clock);
      if (response.status === 404) return undefined;
      return toRecording(response);
    },
  };
}

async function getHeaders(url: string, range: ByteRange | undefined, clock: Clock): Promise<Response> {
  const abort = new AbortController();
  const timer = clock.setTimer(() => abort.abort(), HEADERS_TIMEOUT_MS);
  const headers: Record<string, string> = range ? { range: rangeHeader(range) } : {};
  try {
    return await fetch(url, { headers, redirect: 'error', signal: abort.signal });
  } catch (error) {
    throw unavailable(error);
  } finally {
    timer.cancel();
  }
}

function toRecording({ status, headers, body }: Response): OpenRecording {
  const [, first, last, total] = CONTENT_RANGE.exec(headers.get('content-range') ?? '') ?? [];
  if (status === 416 && total !== undefined) throw new RangeNotSatisfiableError(Number(total));
  const totalBytes = Number(total ?? headers.get('content-length'));
  if (body === null || (status !== 200 && status !== 206)) throw unavailable();
  const stream = Readable.fromWeb(body as ReadableStream);
  return { stream, totalBytes, first: Number(first ?? 0), last: Number(last ?? totalBytes - 1) };
}

function rangeHeader(range: ByteRange): string {
  return 'first' in range ? `bytes=${range.first}-${range.last ?? ''}` : `bytes=-${range.suffixLength}`;
}

function unavailable(cause?: unknown): CallwayError {
  const message = 'The node that has the recording does not answer; try again when it is back';
  return new CallwayError('unavailable', 'recording_unavailable', message, { cause, retryAfterSeconds: 10 });
}
