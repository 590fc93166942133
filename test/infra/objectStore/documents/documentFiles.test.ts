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
  'a bucket that took the place of a folder': async () =>
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

describe.each(Object.entries(stores))('documents in %s', (_name, open) => {
  test('come out as they went in', async () => {
    const files = await open();
    await files.write('one', pieces(Buffer.from('Hello '), Buffer.from([0, 255, 128]), Buffer.alloc(0)));
    await files.write('folder/two', pieces(Buffer.from('other')));
    expect(await contentOf(files, 'one')).toEqual(Buffer.from('Hello \x00\xff\x80', 'latin1'));
    expect(await contentOf(files, 'folder/two')).toEqual(Buffer.from('other'));
  });

  test('longer than some parts come out whole', async () => {
    const files = await open();
    const parts = Array.from({ length: 13 }, (_, index) => Buffer.alloc(MEBIBYTE, `part ${index}`));
    await files.write('long', pieces(...parts));
    expect((await contentOf(files, 'long')).equals(Buffer.concat(parts))).toBe(true);
  });

  test.each([
    ['early', [Buffer.from('half')]],
    ['after some parts', Array.from({ length: 12 }, () => Buffer.alloc(MEBIBYTE, 'x'))],
  ])('whose source breaks off %s are not kept, and what it said is told', async (_, content) => {
    const files = await open();
    await expect(files.write('broken', pieces(...content, new Error('it broke off')))).rejects.toThrow(
      'it broke off',
    );
    await expect(files.checkOut('broken')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('are not there when they never were, or are removed', async () => {
    const files = await open();
    await expect(files.checkOut('none')).rejects.toMatchObject({ code: 'ENOENT' });
    await files.write('one', pieces(Buffer.from('x')));
    await files.remove('one');
    await files.remove('one');
    await expect(files.checkOut('one')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(['../x', '/x', 'a//b', 'a/../b', '', '.hidden', 'a\\b', 'a\0b'])(
    'have no key like %j',
    async (key) => {
      const files = await open();
      await expect(async () => files.write(key, Readable.from([]))).rejects.toThrow('not the key of a file');
      await expect(async () => files.checkOut(key)).rejects.toThrow('not the key of a file');
      await expect(async () => files.remove(key)).rejects.toThrow('not the key of a file');
    },
  );
});

test('copies out of a bucket are gone when they are released, and those that a dead process left, too', async () => {
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

describe('when a bucket takes the place of a folder', () => {
  const open = async () => {
    const [before, bucket] = [localDocuments(join(tempDir(), 'uploads')), await inBucket()];
    return { before, bucket, files: documentsWithFallback(bucket, before) };
  };

  test('what was kept before is read, and removed', async () => {
    const { before, files } = await open();
    await before.write('old', pieces(Buffer.from('from before')));
    expect(await contentOf(files, 'old')).toEqual(Buffer.from('from before'));
    await files.remove('old');
    await expect(before.checkOut('old')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('what comes goes into the bucket alone', async () => {
    const { before, bucket, files } = await open();
    await files.write('new', pieces(Buffer.from('x')));
    expect(await contentOf(bucket, 'new')).toEqual(Buffer.from('x'));
    await expect(before.checkOut('new')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('a bucket that fails is not taken for an empty one', async () => {
    const { before } = await open();
    await before.write('old', pieces(Buffer.from('x')));
    const broken = { ...before, checkOut: () => Promise.reject(new Error('access denied')) };
    await expect(documentsWithFallback(broken, before).checkOut('old')).rejects.toThrow('access denied');
  });
});
