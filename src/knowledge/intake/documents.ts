import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { type Removals, removeDueFiles } from '../../work/removals.ts';
import type { WakeWork } from '../../work/work.ts';
import { DOCUMENT_TYPES, type DocumentType } from '../documentType.ts';
import type { DocumentFiles } from '../files.ts';
import { createTypeDetector } from './typeDetector.ts';

/** A request does not wait longer for a store that does not answer. */
const CLEAN_UP_MS = 2_000;

export interface DocumentsDeps {
  readonly files: DocumentFiles;
  /** Files whose dataset was removed. */
  readonly removals: Removals;
  readonly wake: WakeWork;
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
   * @param part - The part of the form that has the file, which errors name.
   * @param maxBytes - Its largest size; default that of a document.
   * @throws {CallwayError} 413 `file_too_large`, or 400 as {@link createTypeDetector} says; then nothing is stored.
   */
  receive(source: Readable, fileName: string, part: string, maxBytes?: number): Promise<ReceivedDocument>;
  /** Removes an upload. Never fails; logs instead. */
  discard(fileKey: string): Promise<void>;
  /** Tells a worker that a dataset's ingestion is due. */
  readonly wake: WakeWork;
  /** Removes the file of a dataset that was removed from the database. Never fails. */
  cleanUp(): Promise<void>;
  /** Removes the files of all removed datasets. */
  removeFiles(signal: AbortSignal): Promise<void>;
}

export function createDocuments(deps: DocumentsDeps): Documents {
  const { files, removals, wake, onError } = deps;

  const removeFiles = (signal: AbortSignal) => {
    const failed = (error: unknown) => onError(error, 'file of a dataset not removed, retrying');
    return removeDueFiles(removals, files.remove, failed, signal);
  };
  const logErrors = async (work: Promise<unknown>, message: string) => {
    await work.catch((error: unknown) => onError(error, message));
  };
  return {
    async receive(source, fileName, part, maxBytes = deps.maxBytes) {
      const fileKey = deps.makeId();
      const detector = createTypeDetector(fileName, part);
      const hash = createHash('sha256');
      let bytes = 0;
      const inspected = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of source as AsyncIterable<Buffer>) {
          bytes += piece.length;
          if (bytes > maxBytes) throw tooLarge(maxBytes);
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
    wake,
    cleanUp: () =>
      logErrors(
        removeFiles(AbortSignal.timeout(CLEAN_UP_MS)),
        'file of a removed dataset not removed, the sweep retries',
      ),
    removeFiles,
  };
}

function tooLarge(maxBytes: number): CallwayError {
  return new CallwayError('too_large', 'file_too_large', `The file has more than ${maxBytes} bytes`);
}
