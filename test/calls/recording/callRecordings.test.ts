import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import { uuidV7 } from '../../../src/base/ids.ts';
import type { Call } from '../../../src/calls/call.ts';
import { CallRecordings } from '../../../src/calls/recording/callRecordings.ts';
import { createWorkingFolder } from '../../../src/infra/objectStore/recordings/workingFolder.ts';
import { completeRecording } from '../../../src/media/recording/recordingFile.ts';
import { wavHeader } from '../../../src/media/wav.ts';
import { tempDir } from '../../support/tempDir.ts';

const call = { id: 'c', projectId: 'p' } as Call;
const BYTES = 44 + 32_000;

function recordingsWith(requireRoom: (projectId: string, bytes: number) => Promise<void>) {
  const path = join(tempDir(), 'c.wav');
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ sampleRateHz: 8000, channels: 2 }, 32_000), Buffer.alloc(32_000)]),
  );
  const saved: string[] = [];
  const recordings = new CallRecordings({
    recordingStore: { save: async (_path, key) => void saved.push(key), remove: async () => undefined },
    urls: { sign: (key) => key },
    pathOf: (id) => (id === call.id ? path : join(path, '..', `${id}.wav`)),
    workingCallIds: createWorkingFolder(dirname(path)).callIds,
    completeFile: completeRecording,
    storedLength: async () => undefined,
    requireRoom,
    onError: () => undefined,
  });
  return { recordings, path, saved };
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

test('Recordings whose call was removed are removed from the node', async () => {
  const { recordings, path } = recordingsWith(away);
  const [known, gone] = [uuidV7(), uuidV7()].map((id) => ({ id, file: join(dirname(path), `${id}.wav`) }));
  for (const one of [known, gone]) writeFileSync(one?.file ?? '', '');
  await recordings.removeOrphans(async (ids) => new Set(ids.filter((id) => id === known?.id)));
  expect([known, gone].map((one) => existsSync(one?.file ?? ''))).toEqual([true, false]);
  expect(existsSync(path)).toBe(true);
});
