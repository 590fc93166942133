import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { DOCUMENT_TYPES, type DocumentType } from '../documentType.ts';
import type { DocumentFiles } from '../files.ts';
import type { FileRemovalStore } from '../stores.ts';
import { createTypeDetector } from './typeDetector.ts';

const REMOVAL_BATCH = 100;

/** Ingestion jobs, which any worker node runs. */
export interface IngestionQueue {
  /** Queues a dataset; does nothing when it is queued already. */
  add(datasetId: string, projectId: string): Promise<void>;
  /** A running job notices the removal itself. */
  remove(datasetId: string): Promise<void>;
}

export interface DocumentsDeps {
  readonly files: DocumentFiles;
  readonly removals: FileRemovalStore;
  readonly queue: IngestionQueue;
  readonly maxBytes: number;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

export interface ReceivedDocument {
  readonly fileKey: string;
  readonly type: DocumentType;
  readonly mimeType: string;
  readonly bytes: number;
  /** The SHA-256 of the content, in hex. */
  readonly sha256: string;
}

/** Receives and removes uploaded documents. */
export interface Documents {
  /**
   * Stores an upload as a stream.
   *
   * @throws {CallwayError} 413 `file_too_large`, or 400 as {@link createTypeDetector} says; then nothing is stored.
   */
  receive(source: Readable, fileName: string): Promise<ReceivedDocument>;
  /** Removes an upload. Never fails; logs instead. */
  discard(fileKey: string): Promise<void>;
  /** Queues a dataset's ingestion. Never fails: the sweep queues it later. */
  enqueue(datasetId: string, projectId: string): Promise<void>;
  /** Runs a dataset's ingestion now, also where it waits for its next attempt. Never fails, as {@link enqueue}. */
  retry(datasetId: string, projectId: string): Promise<void>;
  /** Removes the job and the file of a dataset that was removed from the database. Never fails. */
  cleanUp(datasetId: string): Promise<void>;
  /** Removes the files of all removed datasets. */
  removeFiles(): Promise<void>;
}

export function createDocuments(deps: DocumentsDeps): Documents {
  const { files, removals, queue, onError } = deps;

  const removeFiles = async () => {
    for (const key of await removals.list(REMOVAL_BATCH)) {
      await files.remove(key);
      await removals.markDone(key);
    }
  };
  const logErrors = async (work: Promise<void>, message: string) => {
    await work.catch((error: unknown) => onError(error, message));
  };
  const enqueue = (datasetId: string, projectId: string) =>
    logErrors(queue.add(datasetId, projectId), 'dataset not queued, the sweep retries');
  return {
    async receive(source, fileName) {
      const fileKey = deps.makeId();
      const detector = createTypeDetector(fileName);
      const hash = createHash('sha256');
      let bytes = 0;
      const inspected = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of source as AsyncIterable<Buffer>) {
          bytes += piece.length;
          if (bytes > deps.maxBytes) throw tooLarge(deps.maxBytes);
          hash.update(piece);
          detector.push(piece);
          yield piece;
        }
        detector.type();
      };
      // The reader gets the error, also one from before the first read.
      source.on('error', () => undefined);
      await files.write(fileKey, inspected());
      const type = detector.type();
      return { fileKey, type, mimeType: DOCUMENT_TYPES[type], bytes, sha256: hash.digest('hex') };
    },
    discard: (fileKey) => logErrors(files.remove(fileKey), 'rejected upload not removed'),
    enqueue,
    async retry(datasetId, projectId) {
      await logErrors(queue.remove(datasetId), 'waiting job of a dataset not replaced');
      await enqueue(datasetId, projectId);
    },
    async cleanUp(datasetId) {
      await logErrors(queue.remove(datasetId), 'job of a removed dataset not removed');
      await logErrors(removeFiles(), 'file of a removed dataset not removed, the sweep retries');
    },
    removeFiles,
  };
}

function tooLarge(maxBytes: number): CallwayError {
  return new CallwayError('too_large', 'file_too_large', `The file has more than ${maxBytes} bytes`);
}
