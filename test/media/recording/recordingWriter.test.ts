import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';

import type { OpenRecordingFile } from '../../../src/media/recording/recordingFile.ts';
import { RecordingWriter, serveRecordings } from '../../../src/media/recording/recordingWriter.ts';
import { portPair } from '../../support/fakeThread.ts';
import { makeTempDir } from '../../support/tempDir.ts';

/** A writer whose threads are objects of this thread, and what they can be told. */
function writer(open?: OpenRecordingFile) {
  const threads: (Worker & { isDeaf: boolean })[] = [];
  const recordings = new RecordingWriter(() => {
    const [main, port] = portPair();
    const thread = Object.assign(new EventEmitter(), {
      isDeaf: false,
      unref: () => undefined,
      postMessage: (message: unknown) => thread.isDeaf || main.postMessage(message),
    }) as unknown as (typeof threads)[number];
    main.on('message', (message) => thread.emit('message', message));
    serveRecordings(port, open);
    threads.push(thread);
    return thread;
  });
  const folder = makeTempDir();
  onTestFinished(() => folder.remove());
  return { recordings, threads, path: (name: string) => join(folder.path, name) };
}

it('writes several files by one thread', async () => {
  const { recordings, threads, path } = writer();
  const [one, two] = await Promise.all([recordings.open(path('a/1.wav')), recordings.open(path('b/2.wav'))]);
  await Promise.all([one.write(Buffer.from('one'), 0), two.write(Buffer.from('two'), 2)]);
  await one.write(Buffer.from('!'), 3);
  await Promise.all([one.close(), two.close()]);
  expect(readFileSync(path('a/1.wav'), 'utf8')).toBe('one!');
  expect(readFileSync(path('b/2.wav'), 'utf8')).toBe('\0\0two');
  expect(threads).toHaveLength(1);
});

it('reports the system’s error with its code', async () => {
  const { recordings, path } = writer();
  const file = await recordings.open(path('file'));
  await expect(recordings.open(path('file/below/it.wav'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await file.write(Buffer.from('it goes on'), 0);
  await file.close();
});

it('a thread that dies fails its files, and the next recording gets another', async () => {
  const written: string[] = [];
  const { recordings, threads } = writer(async (path) => ({
    write: async (bytes) => void written.push(`${path}: ${Buffer.from(bytes)}`),
    close: async () => undefined,
  }));
  const lost = await recordings.open('lost');
  const [thread] = threads;
  if (thread) thread.isDeaf = true;
  const waiting = lost.write(Buffer.from('never'), 0);
  thread?.emit('error', new Error('out of memory'));
  thread?.emit('exit', 1);
  await expect(waiting).rejects.toThrow('has died');
  const next = await recordings.open('next');
  await expect(lost.write(Buffer.from('never'), 0)).rejects.toThrow('has died');
  await next.write(Buffer.from('words'), 0);
  expect(written).toEqual(['next: words']);
});
