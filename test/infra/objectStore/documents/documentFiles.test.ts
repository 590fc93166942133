import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';

import { bucketDocuments } from '../../../../src/infra/objectStore/documents/bucketDocuments.ts';
import { documentsWithFallback } from '../../../../src/infra/objectStore/documents/documentsWithFallback.ts';
import { localDocuments } from '../../../../src/infra/objectStore/documents/localDocuments.ts';
import type { DocumentFiles } from '../../../../src/knowledge/files.ts';
import { testBucket } from '../../../support/objectStore.ts';
import { tempDir } from '../../../support/tempDir.ts';

const NOW = Date.UTC(2026, 0, 1);
const MEBIBYTE = 1_048_576;

const inBucket = async (workingFolder = join(tempDir(), 'in-use')): Promise<DocumentFiles> =>
  bucketDocuments({ bucket: await testBucket(), workingFolder, now: () => NOW });
const stores = {
  'a folder': async () => localDocuments(join(tempDir(), 'uploads')),
  'a bucket': () => inBucket(),
  'a bucket after a folder': async () =>
    documentsWithFallback(await inBucket(), localDocuments(join(tempDir(), 'uploads'))),
} as const;

async function* pieces(...content: readonly (Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of content) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}
async function contentOf(files: DocumentFiles, key: string): Promise<Buffer> {
  const file = await files.checkOut(key);
  const content = readFileSync(file.path);
  await file.release();
  await file.release();
  return content;
}

describe.each(Object.entries(stores))('Documents in %s', (name, open) => {
  test('are read as they were written', async () => {
    const files = await open();
    await files.write('one', pieces(Buffer.from('Hello '), Buffer.from([0, 255, 128]), Buffer.alloc(0)));
    await files.write('folder/two', pieces(Buffer.from('other')));
    expect(await contentOf(files, 'one')).toEqual(Buffer.from('Hello \x00\xff\x80', 'latin1'));
    expect(await contentOf(files, 'folder/two')).toEqual(Buffer.from('other'));
  });

  test('of several parts are complete', async () => {
    const files = await open();
    const parts = Array.from({ length: 13 }, (_, index) => Buffer.alloc(MEBIBYTE, `part ${index}`));
    await files.write('long', pieces(...parts));
    expect((await contentOf(files, 'long')).equals(Buffer.concat(parts))).toBe(true);
  });

  test.each([
    ['early', [Buffer.from('half')]],
    ['after some parts', Array.from({ length: 12 }, () => Buffer.alloc(MEBIBYTE, 'x'))],
  ])('are not stored when the source fails %s, and report its error', async (_, content) => {
    const files = await open();
    await expect(files.write('broken', pieces(...content, new Error('source failed')))).rejects.toThrow(
      'source failed',
    );
    await expect(files.checkOut('broken')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('do not exist before they are written and after they are removed', async () => {
    const files = await open();
    await expect(files.checkOut('none')).rejects.toMatchObject({ code: 'ENOENT' });
    await files.write('one', pieces(Buffer.from('x')));
    expect(await files.remove('one')).toBe(true);
    expect(await files.remove('one')).toBe(name !== 'a folder');
    await expect(files.checkOut('one')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(['../x', '/x', 'a//b', 'a/../b', '', '.hidden', 'a\\b', 'a\0b'])(
    'reject the key %j',
    async (key) => {
      const files = await open();
      await expect(async () => files.write(key, Readable.from([]))).rejects.toThrow('invalid file key');
      await expect(async () => files.checkOut(key)).rejects.toThrow('invalid file key');
      await expect(async () => files.remove(key)).rejects.toThrow('invalid file key');
    },
  );
});

test('Copies of documents are removed on release, and so are those of a dead process', async () => {
  const folder = join(tempDir(), 'in-use');
  const files = await inBucket(folder);
  await files.write('one', pieces(Buffer.from('x')));
  const file = await files.checkOut('one');
  for (const [name, ageMs] of [
    ['old', 3_600_001],
    ['young', 3_599_000],
  ] as const) {
    const path = join(folder, name);
    writeFileSync(path, name);
    utimesSync(path, NOW / 1000, (NOW - ageMs) / 1000);
  }
  await (await files.checkOut('one')).release();
  expect(existsSync(file.path)).toBe(true);
  await file.release();
  expect(readdirSync(folder)).toEqual(['young']);
});

describe('After a change from a folder to a bucket', () => {
  const open = async () => {
    const [before, bucket] = [localDocuments(join(tempDir(), 'uploads')), await inBucket()];
    return { before, bucket, files: documentsWithFallback(bucket, before) };
  };

  test('existing documents are read and removed', async () => {
    const { before, files } = await open();
    await before.write('old', pieces(Buffer.from('from before')));
    expect(await contentOf(files, 'old')).toEqual(Buffer.from('from before'));
    await files.remove('old');
    await expect(before.checkOut('old')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('new documents are written to the bucket only', async () => {
    const { before, bucket, files } = await open();
    await files.write('new', pieces(Buffer.from('x')));
    expect(await contentOf(bucket, 'new')).toEqual(Buffer.from('x'));
    await expect(before.checkOut('new')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('a failing bucket is not treated as an empty one', async () => {
    const { before } = await open();
    await before.write('old', pieces(Buffer.from('x')));
    const broken = { ...before, checkOut: () => Promise.reject(new Error('access denied')) };
    await expect(documentsWithFallback(broken, before).checkOut('old')).rejects.toThrow('access denied');
  });
});
