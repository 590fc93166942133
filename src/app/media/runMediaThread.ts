import { randomFillSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { startThread } from '../../base/threads/thread.ts';
import { systemClock } from '../../base/values/clock.ts';
import type { ConnectStream } from '../../media/agentStream/streamClient.ts';
import { createCodecRegistry } from '../../media/codecs/registry.ts';
import { sleepAfterCollections } from '../../media/engine/sleepAfterCollections.ts';
import type { MediaThreadData } from '../../media/engine/threadMessages.ts';
import { ThreadServer } from '../../media/engine/threadServer.ts';
import { warmUp } from '../../media/engine/warmUp.ts';
import { RecordingWriter } from '../../media/recording/recordingWriter.ts';
import type { SupervisorGate } from '../../media/supervision/supervisorStream.ts';
import { createThreadSleep, type ThreadSleep } from '../../media/ticker/ticker.ts';
import type { PacketIo } from '../../media/transport/packetIo.ts';

export interface MediaThreadSetup {
  readonly connectStream: ConnectStream;
  readonly packetIo: PacketIo;
  /** Raises the thread's priority; returns whether that is allowed. */
  readonly raisePriority: () => boolean;
  readonly sleep?: ThreadSleep;
  readonly supervisorGate?: SupervisorGate;
}

/**
 * Runs a media thread. Its entry file calls this once.
 *
 * @throws {Error} When it is called outside a worker thread.
 */
export async function runMediaThread({ raisePriority, ...setup }: MediaThreadSetup): Promise<void> {
  if (parentPort === null) throw new Error('a media thread runs in a worker thread only');
  const random = new Uint32Array(1);
  // Before this thread is raised: one that a thread with a real-time policy starts has no priority, not even the process's.
  const recordings = new RecordingWriter(() =>
    startThread(new URL('./recordingThread.ts', import.meta.url), { name: 'recordings' }),
  );
  const codecs = createCodecRegistry();
  await warmUp(codecs);
  const hasPriority = raisePriority();
  if (hasPriority) {
    sleepAfterCollections({ sleep: createThreadSleep().sleep, nowMs: () => systemClock.monotonicMs() });
  }
  const deps = {
    ...setup,
    port: parentPort,
    clock: systemClock,
    codecs,
    openRecordingFile: recordings.open,
    randomUint32: () => randomFillSync(random)[0] ?? 0,
    hasPriority,
  };
  new ThreadServer(deps, workerData as MediaThreadData).start();
}
