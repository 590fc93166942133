import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import type { Call } from '../../../src/calls/call.ts';
import { CallRecordings } from '../../../src/calls/recording/callRecordings.ts';
import type { RecordingLength, RecordingStore } from '../../../src/calls/recording/recordingStore.ts';
import type { RecordingUrls } from '../../../src/calls/recording/recordingUrls.ts';
import { createWorkingFolder } from '../../../src/infra/objectStore/recordings/workingFolder.ts';
import { completeRecording } from '../../../src/media/recording/recordingFile.ts';
import { wavHeader } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';
import { unused } from '../../support/unused.ts';

const call = { id: 'c', projectId: 'p' } as Call;
const BYTES = 44 + 32_000;

function recordingsWith(
  requireRoom: (projectId: string, bytes: number) => Promise<void>,
  stored?: RecordingLength,
) {
  const path = join(tempDir(), 'c.wav');
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ sampleRateHz: 8000, channels: 2 }, 32_000), Buffer.alloc(32_000)]),
  );
  const saved: string[] = [];
  const removals = new Set<string>();
  let failure: Error | undefined;
  const recordings = new CallRecordings({
    recordingStore: unused<RecordingStore>('recordingStore', {
      async save(_path, key) {
        if (failure) throw failure;
        saved.push(key);
      },
      async remove(key) {
        if (key.startsWith('broken/')) throw new Error('not removed');
        if (key.startsWith('silent/')) await new Promise(() => undefined);
        return key.startsWith('here/');
      },
    }),
    removals: {
      due: async (limit, after = '') => [...removals].filter((key) => key > after).slice(0, limit),
      done: async (key) => void removals.delete(key),
    },
    urls: unused<RecordingUrls>('urls', { sign: (key) => key }),
    pathOf: (id) => (id === call.id ? path : join(path, '..', `${id}.wav`)),
    workingCallIds: createWorkingFolder(dirname(path)).callIds,
    completeFile: completeRecording,
    storedLength: async () => stored,
    requireRoom,
    onError: () => undefined,
  });
  const failWith = (error: Error) => {
    failure = error;
  };
  return { recordings, path, saved, removals, failWith };
}

const exceeded = async () => {
  throw new CallwayError('too_large', 'quota_exceeded', 'The quota is used up');
};
const away = async () => {
  throw new CallwayError('unavailable', 'database_unavailable', 'The database is away');
};

test.each(['store', 'recover'] as const)('A recording counts with its bytes (%s)', async (how) => {
  const asked: unknown[] = [];
  const { recordings, path, saved } = recordingsWith(async (...room) => void asked.push(room));
  const result =
    how === 'store'
      ? recordings.store(call, { path, durationMs: 1000, lengthBytes: BYTES })
      : recordings.recover(call);
  expect(await result).toEqual({
    status: 'ready',
    key: 'p/c.wav',
    durationMs: 1000,
    bytes: BYTES,
    error: null,
  });
  expect([asked, saved]).toEqual([[['p', BYTES]], ['p/c.wav']]);
});

test.each(['store', 'recover'] as const)('A recording beyond the quota is not kept (%s)', async (how) => {
  const { recordings, path, saved } = recordingsWith(exceeded);
  const result =
    how === 'store'
      ? recordings.store(call, { path, durationMs: 1000, lengthBytes: BYTES })
      : recordings.recover(call);
  expect(await result).toEqual({
    status: 'failed',
    key: null,
    durationMs: null,
    error: 'The quota is used up',
  });
  expect([existsSync(path), saved]).toEqual([false, []]);
});

test('A recording is kept while the quota cannot be read', async () => {
  const { recordings, path, saved } = recordingsWith(away);
  expect(await recordings.store(call, { path, durationMs: 1000, lengthBytes: BYTES })).toMatchObject({
    status: 'ready',
  });
  expect(saved).toEqual(['p/c.wav']);
});

test('A stored recording begins when its file did', async () => {
  const { recordings, path } = recordingsWith(async () => undefined);
  const report = { path, durationMs: 1000, lengthBytes: BYTES, startedAtMs: 1_000 };
  expect(await recordings.store(call, report)).toMatchObject({ startedAt: '1970-01-01T00:00:01.000Z' });
});

test.each([
  ['never began', undefined, 'The recording could not be started', true],
  [
    'broke off',
    { durationMs: 1, lengthBytes: 1, error: 'disk full' },
    'The recording could not be completed',
    false,
  ],
])('A recording that %s has failed', async (_what, report, error, isKept) => {
  const { recordings, path, saved } = recordingsWith(async () => undefined);
  const failed = { status: 'failed', key: null, durationMs: null, error };
  expect(await recordings.store(call, report && { path, ...report })).toEqual(failed);
  expect([saved, existsSync(path)]).toEqual([[], isKept]);
});

test('A recording that cannot be stored has failed, and stays on the node', async () => {
  const { recordings, path, failWith } = recordingsWith(async () => undefined);
  failWith(new Error('The bucket is away'));
  const report = { path, durationMs: 1000, lengthBytes: BYTES };
  expect([await recordings.store(call, report), await recordings.recover(call)]).toMatchObject([
    { status: 'failed', error: 'The recording could not be stored' },
    { status: 'failed', error: 'The recovered recording could not be stored' },
  ]);
  expect(existsSync(path)).toBe(true);
});

test.each([
  [
    'was stored before its node failed',
    { durationMs: 9, bytes: 9 },
    { status: 'ready', key: 'p/c.wav', durationMs: 9, bytes: 9, error: null },
  ],
  [
    'is lost with its node',
    undefined,
    { status: 'failed', key: null, durationMs: null, error: 'The node that recorded it failed' },
  ],
])('A recording that %s is told so', async (_what, stored, expected) => {
  const { recordings, path } = recordingsWith(async () => undefined, stored);
  rmSync(path);
  expect(await recordings.recover(call)).toEqual(expected);
});

test('Recordings whose call was removed are removed from the node', async () => {
  const { recordings, path } = recordingsWith(away);
  const [known, gone] = [uuidV7(), uuidV7()].map((id) => ({ id, file: join(dirname(path), `${id}.wav`) }));
  for (const one of [known, gone]) writeFileSync(one?.file ?? '', '');
  await recordings.removeOrphans(async (ids) => new Set(ids.filter((id) => id === known?.id)));
  expect([known, gone].map((one) => existsSync(one?.file ?? ''))).toEqual([true, false]);
  expect(existsSync(path)).toBe(true);
});

test('A removed recording stays on the list until its file is removed, and holds up none behind it', async () => {
  const { recordings, removals } = recordingsWith(away);
  const elsewhere = Array.from({ length: 250 }, (_, n) => `elsewhere/${1000 + n}.wav`);
  const kept = ['broken/a.wav', ...elsewhere];
  for (const key of [...kept, 'here/a.wav', 'here/b.wav']) removals.add(key);
  await recordings.remove('here/a.wav');
  expect(removals.size).toBe(252);
  await recordings.removeDue(new AbortController().signal);
  expect([...removals]).toEqual(kept);
});

test('A stop ends the removals also while the store is silent', async () => {
  const { recordings, removals } = recordingsWith(away);
  const kept = ['silent/a.wav', 'silent/b.wav'];
  for (const key of ['here/a.wav', ...kept]) removals.add(key);
  const stop = new AbortController();
  const removing = recordings.removeDue(stop.signal);
  await vi.waitFor(() => expect([...removals]).toEqual(kept));
  stop.abort();
  await removing;
});
