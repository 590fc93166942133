import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { checkUploads } from '../../../src/cli/doctor/uploads.ts';
import { tempDir } from '../../support/tempDir.ts';

/** A data folder with so many uploads; undefined makes no folder for them. */
function dataDirOf(uploads: number | undefined): string {
  const folder = tempDir();
  if (uploads === undefined) return folder;
  mkdirSync(join(folder, 'uploads'));
  for (let index = 0; index < uploads; index += 1) writeFileSync(join(folder, 'uploads', `${index}`), 'x');
  return folder;
}

describe('documents', () => {
  it.each([
    { bucket: undefined, uploads: 2, status: 'ok', says: 'in DATA_DIR' },
    { bucket: 'b', uploads: undefined, status: 'ok', says: 'in bucket b' },
    { bucket: 'b', uploads: 0, status: 'ok', says: 'in bucket b' },
    { bucket: 'b', uploads: 1, status: 'warn', says: 'but 1 from before S3_BUCKET was set lies in' },
    { bucket: 'b', uploads: 2, status: 'warn', says: 'but 2 from before S3_BUCKET was set lie in' },
  ])('with bucket $bucket and $uploads uploads: $status', async ({ bucket, uploads, status, says }) => {
    expect(await checkUploads({ DATA_DIR: dataDirOf(uploads), S3_BUCKET: bucket })).toMatchObject({
      status,
      message: expect.stringContaining(says),
    });
  });
});
