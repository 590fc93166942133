import { createHash } from 'node:crypto';
import { CallwayError } from '../../base/errors.js';
import { DOCUMENT_TYPES } from '../documentType.js';
import { createTypeDetector } from './typeDetector.js';

/** Files are removed so many at a time. */
const REMOVAL_BATCH = 100;
export function createDocuments(deps) {
  const { files, removals, queue, onError } = deps;
  const removeFiles = async () => {
    for (const key of await removals.list(REMOVAL_BATCH)) {
      await files.remove(key);
      await removals.done(key);
    }
  };
  const guarded = async (work, what) => {
    await work.catch((error) => onError(error, what));
  };
  return {
    async receive(source, fileName) {
      const fileKey = deps.makeId();
      const detector = createTypeDetector(fileName);
      const hash = createHash('sha256');
      let bytes = 0;
      const watched = async function* () {
        for await (const piece of source) {
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
function tooLarge(maxBytes) {
  return new CallwayError('too_large', 'file_too_large', `The file has more than ${maxBytes} bytes`);
}
