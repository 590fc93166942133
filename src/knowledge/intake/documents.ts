import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/ids.ts';
import { DOCUMENT_TYPES, type DocumentType } from '../documentType.ts';
import type { DocumentFiles } from '../files.ts';
import type { FileRemovalStore } from '../stores.ts';
import { createTypeDetector } from './typeDetector.ts';

/** Files are removed so many at a time. */
const REMOVAL_BATCH = 100;

/** Has datasets made ready, on any node. */
export interface IngestionQueue {
  /** Harmless for a dataset that waits already. */
  add(datasetId: string, projectId: string): Promise<void>;
  /** A job that runs finds out by itself. */
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
  /** Of the content, in hex. */
  readonly sha256: string;
}

/** What comes in, and what goes out again, of a project's documents. */
export interface Documents {
  /**
   * Keeps a file as it comes, never whole in memory.
   *
   * @throws {CallwayError} 413 `file_too_large`, or 400 as {@link createTypeDetector} says; then nothing is kept.
   */
  receive(source: Readable, fileName: string): Promise<ReceivedDocument>;
  /** Takes back what was received. Never fails; what it leaves, it logs. */
  discard(fileKey: string): Promise<void>;
  /** Has a dataset made ready. Never fails: one that could not be queued is found again later. */
  begin(datasetId: string, projectId: string): Promise<void>;
  /** After a dataset is gone from the database: its job and its file go too. Never fails. */
  forget(datasetId: string): Promise<void>;
  /** Removes the files of all datasets that are gone. */
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
  const guarded = async (work: Promise<void>, what: string) => {
    await work.catch((error: unknown) => onError(error, what));
  };
  return {
    async receive(source, fileName) {
      const fileKey = deps.makeId();
      const detector = createTypeDetector(fileName);
      const hash = createHash('sha256');
      let bytes = 0;
      const watched = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of source as AsyncIterable<Buffer>) {
          bytes += piece.length;
          if (bytes > deps.maxBytes) throw tooLarge(deps.maxBytes);
          hash.update(piece);
          detector.push(piece);
          yield piece;
        }
        detector.type();
      };
      // Whoever reads hears of an error then, also of one that came before.
      source.on('error', () => undefined);
      await files.write(fileKey, watched());
      const type = detector.type();
      return { fileKey, type, mimeType: DOCUMENT_TYPES[type], bytes, sha256: hash.digest('hex') };
    },
    discard: (fileKey) => guarded(files.remove(fileKey), 'a refused upload was not removed'),
    begin: (datasetId, projectId) =>
      guarded(queue.add(datasetId, projectId), 'a dataset was not queued; it is queued later'),
    async forget(datasetId) {
      await guarded(queue.remove(datasetId), 'a removed dataset’s job was left to end by itself');
      await guarded(removeFiles(), 'a removed dataset’s file was not removed; it is tried again');
    },
    removeFiles,
  };
}

function tooLarge(maxBytes: number): CallwayError {
  return new CallwayError('too_large', 'file_too_large', `The file has more than ${maxBytes} bytes`);
}
