import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { type DocumentFiles, requireFileKey } from '../../../knowledge/files.ts';
import type { Bucket } from '../bucket.ts';

/** The prefix of documents; the bucket also holds recordings. */
const PREFIX = 'documents/';
const CONTENT_TYPE = 'application/octet-stream';
/** The age from which a copy was left by a process that died. No document is read for longer. */
const LEFT_BEHIND_MS = 3_600_000;

export interface BucketFilesOptions {
  readonly bucket: Bucket;
  /** The folder on this machine for copies of documents while they are read. */
  readonly workingFolder: string;
  /** Returns the Unix time in milliseconds. */
  readonly now: () => number;
}

/** Documents in a bucket, readable by all nodes. */
export function bucketDocuments({ bucket, workingFolder, now }: BucketFilesOptions): DocumentFiles {
  const objectOf = (key: string): string => {
    requireFileKey(key);
    return PREFIX + key;
  };
  return {
    async write(key, source) {
      await bucket.put(objectOf(key), Readable.from(source, { objectMode: false }), CONTENT_TYPE);
    },
    async checkOut(key) {
      const content = await bucket.read(objectOf(key));
      if (!content) throw missing(key);
      await mkdir(workingFolder, { recursive: true, mode: 0o700 });
      await removeLeftBehind(workingFolder, now() - LEFT_BEHIND_MS);
      const path = join(workingFolder, randomUUID());
      const release = () => rm(path, { force: true });
      try {
        await pipeline(content, createWriteStream(path, { mode: 0o600 }));
      } catch (error) {
        await release();
        throw error;
      }
      return { path, release };
    },
    async remove(key) {
      await bucket.remove(objectOf(key));
      return true;
    },
  };
}

async function removeLeftBehind(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another process may have removed it meanwhile.
    const state = await stat(path).catch(() => undefined);
    if (state && state.mtimeMs < beforeMs) await rm(path, { force: true });
  }
}

/** The error code of a file system. */
function missing(key: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`document ${key} does not exist in the bucket`), { code: 'ENOENT' });
}
