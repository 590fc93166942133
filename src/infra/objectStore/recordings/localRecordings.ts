import { access, copyFile, mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type RecordingStore,
  requireRecordingKey,
  resolveByteRange,
} from '../../../calls/recording/recordingStore.ts';

export function localRecordings(folder: string): RecordingStore {
  const pathOf = (key: string): string => {
    requireRecordingKey(key);
    return join(folder, key);
  };
  return {
    async save(localPath, key) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await move(localPath, path).catch(async (error: unknown) => {
        if (codeOf(error) !== 'ENOENT' || !(await isThere(path))) throw error;
      });
    },
    async open(key, range) {
      const file = await open(pathOf(key), 'r').catch(ignoreMissing);
      if (file === undefined) return undefined;
      try {
        const { size } = await file.stat();
        const { first, last } = resolveByteRange(range, size);
        const stream = file.createReadStream({ start: first, end: last });
        return { stream, totalBytes: size, first, last };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    async remove(key) {
      const removed = unlink(pathOf(key)).then(() => true);
      return (await removed.catch(ignoreMissing)) ?? false;
    },
  };
}

/** Renames on the same disk; otherwise copies to a temporary name first, so that no partial file is visible. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    const part = `${to}.part`;
    await copyFile(from, part);
    await rename(part, to);
    await rm(from, { force: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
