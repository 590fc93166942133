import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { loadConfig } from '../../../src/app/settings/config.ts';
import { checkDocuments, checkRecordings } from '../../../src/cli/doctor/storage.ts';
import { tempDir } from '../../support/tempDir.ts';

describe('The recordings check', () => {
  it.each([
    { settings: {}, status: 'ok', says: 'in DATA_DIR' },
    {
      settings: { DATABASE_URL: 'postgres://db' },
      status: 'ok',
      says: 'other nodes read those of this node at this machine’s own address',
    },
    {
      settings: { DATABASE_URL: 'postgres://db', NODE_URL: 'http://node:3000' },
      status: 'ok',
      says: 'other nodes read those of this node at http://node:3000',
    },
    { settings: { S3_BUCKET: 'b' }, status: 'ok', says: "the environment's own credentials" },
    {
      settings: { S3_BUCKET: 'b', S3_ENDPOINT: 'http://s.test' },
      status: 'ok',
      says: 'bucket b in http://s.test',
    },
    {
      settings: { S3_ENDPOINT: 'http://s.test' },
      status: 'warn',
      says: 'S3_ENDPOINT has no effect without S3_BUCKET',
    },
  ])('reports $status with $settings', ({ settings, status, says }) => {
    expect(checkRecordings(loadConfig(settings))).toMatchObject({
      status,
      message: expect.stringContaining(says),
    });
  });
});

/** A data folder with this number of uploads; undefined makes no uploads folder. */
function dataDirOf(uploads: number | undefined): string {
  const folder = tempDir();
  if (uploads === undefined) return folder;
  mkdirSync(join(folder, 'uploads'));
  for (let index = 0; index < uploads; index += 1) writeFileSync(join(folder, 'uploads', `${index}`), 'x');
  return folder;
}

describe('The documents check', () => {
  it.each([
    { bucket: undefined, uploads: 2, status: 'ok', says: 'in DATA_DIR' },
    { bucket: 'b', uploads: undefined, status: 'ok', says: 'in bucket b' },
    { bucket: 'b', uploads: 0, status: 'ok', says: 'in bucket b' },
    { bucket: 'b', uploads: 1, status: 'warn', says: '1 document from before S3_BUCKET was set remain in' },
    { bucket: 'b', uploads: 2, status: 'warn', says: '2 documents from before S3_BUCKET was set remain in' },
  ])(
    'reports $status with bucket $bucket and $uploads uploads',
    async ({ bucket, uploads, status, says }) => {
      expect(await checkDocuments({ DATA_DIR: dataDirOf(uploads), S3_BUCKET: bucket })).toMatchObject({
        status,
        message: expect.stringContaining(says),
      });
    },
  );
});
