import { createWriteStream } from 'node:fs';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { type DocumentFiles, requireFileKey } from '../../../knowledge/files.ts';

/** The folder of uploaded documents in `DATA_DIR`. */
export const UPLOADS_FOLDER = 'uploads';

/** Documents in a folder of this machine, or one that nodes share. */
export function localDocuments(folder: string): DocumentFiles {
  const pathOf = (key: string) => {
    requireFileKey(key);
    return join(folder, key);
  };
  return {
    async write(key, source) {
      const path = pathOf(key);
      const unfinished = `${path}.part`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await pipeline(source, createWriteStream(unfinished, { mode: 0o600, flush: true }));
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    async checkOut(key) {
      const path = pathOf(key);
      await access(path);
      return { path, release: async () => undefined };
    },
    async remove(key) {
      try {
        await rm(pathOf(key));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return false;
      }
    },
  };
}
