import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  RangeNotSatisfiableError,
  type RecordingStore,
} from '../../../../src/calls/recording/recordingStore.ts';
import { bucketRecordings } from '../../../../src/infra/objectStore/recordings/bucketRecordings.ts';
import { localRecordings } from '../../../../src/infra/objectStore/recordings/localRecordings.ts';
import { createWorkingFolder } from '../../../../src/infra/objectStore/recordings/workingFolder.ts';
import { testBucket } from '../../../support/objectStore.ts';
import { tempDir } from '../../../support/tempDir.ts';

const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 251));

async function startS3(): Promise<RecordingStore> {
  return bucketRecordings(await testBucket());
}

const stores = {
  'a local folder': async () => localRecordings(join(tempDir(), 'kept')),
  'an S3 server': startS3,
} as const;

async function kept(store: RecordingStore, key: string, bytes: Uint8Array = BYTES): Promise<string> {
  const path = join(tempDir(), 'part.wav');
  writeFileSync(path, bytes);
  await store.save(path, key);
  return path;
}

describe.each(Object.entries(stores))('Recordings in %s', (name, open) => {
  it('are moved into the store', async () => {
    const store = await open();
    const path = await kept(store, 'project-1/call.1.wav');
    expect(existsSync(path)).toBe(false);
    const recording = await store.open('project-1/call.1.wav');
    expect(recording).toMatchObject({ totalBytes: 1000, first: 0, last: 999 });
    expect(await buffer(recording?.stream ?? Readable.from([]))).toEqual(BYTES);
  });

  it.each([
    [{ first: 10, last: 19 }, 10, 19],
    [{ first: 995 }, 995, 999],
    [{ first: 995, last: 5000 }, 995, 999],
    [{ suffixLength: 3 }, 997, 999],
    [{ suffixLength: 5000 }, 0, 999],
  ] as const)('are read in part: %o', async (range, first, last) => {
    const store = await open();
    await kept(store, 'p/c.wav');
    const recording = await store.open('p/c.wav', range);
    expect(recording).toMatchObject({ totalBytes: 1000, first, last });
    expect(await buffer(recording?.stream ?? Readable.from([]))).toEqual(BYTES.subarray(first, last + 1));
  });

  it('report their length when a range is out of bounds', async () => {
    const store = await open();
    await kept(store, 'p/c.wav');
    const refused = store.open('p/c.wav', { first: 1000 });
    await expect(refused).rejects.toBeInstanceOf(RangeNotSatisfiableError);
    await expect(refused).rejects.toMatchObject({ totalBytes: 1000 });
  });

  it('do not exist before they are stored and after they are removed', async () => {
    const store = await open();
    expect(await store.open('p/none.wav')).toBeUndefined();
    await kept(store, 'p/c.wav');
    expect(await store.remove('p/c.wav')).toBe(true);
    expect(await store.open('p/c.wav')).toBeUndefined();
    // Another node may have a file; a bucket is the same for all.
    expect(await store.remove('p/c.wav')).toBe(name === 'an S3 server');
  });

  it('are replaced when they are stored again', async () => {
    const store = await open();
    await kept(store, 'p/c.wav');
    await kept(store, 'p/c.wav', Buffer.from('newer'));
    expect(await buffer((await store.open('p/c.wav'))?.stream ?? Readable.from([]))).toEqual(
      Buffer.from('newer'),
    );
  });

  it('have keys that cannot leave the store', async () => {
    const store = await open();
    for (const key of [
      '../x.wav',
      '/x.wav',
      'a//b',
      'a/../b',
      '',
      '.hidden',
      'a\\b',
      'a\0b',
      'x'.repeat(300),
    ]) {
      await expect(async () => store.open(key)).rejects.toThrow(RangeError);
      await expect(async () => store.remove(key)).rejects.toThrow(RangeError);
    }
  });

  it('can be stored again by a caller that missed the first result', async () => {
    const store = await open();
    const path = await kept(store, 'p/c.wav');
    await store.save(path, 'p/c.wav');
    expect(await buffer((await store.open('p/c.wav'))?.stream ?? Readable.from([]))).toEqual(BYTES);
  });

  it('stay in place when they cannot be stored', async () => {
    const store = await open();
    await expect(store.save(join(tempDir(), 'missing.wav'), 'p/c.wav')).rejects.toThrow('ENOENT');
    expect(await store.open('p/c.wav')).toBeUndefined();
  });
});

it('A recording of several parts is read back from S3', async () => {
  const store = await startS3();
  const long = Buffer.alloc(12 * 1024 * 1024, 'callway');
  await kept(store, 'p/long.wav', long);
  const recording = await store.open('p/long.wav');
  expect(recording?.totalBytes).toBe(long.length);
  expect((await buffer(recording?.stream ?? Readable.from([]))).equals(long)).toBe(true);
});

it('A working folder lists the calls with a recording', async () => {
  const folder = join(tempDir(), 'working');
  const working = createWorkingFolder(folder);
  expect(await working.callIds()).toEqual([]);
  mkdirSync(folder);
  writeFileSync(working.pathOf('call-1'), 'x');
  writeFileSync(join(folder, 'other.txt'), 'x');
  expect(await working.callIds()).toEqual(['call-1']);
  expect(readFileSync(join(folder, 'call-1.wav'), 'utf8')).toBe('x');
  expect(() => working.pathOf('../x')).toThrow(RangeError);
});
