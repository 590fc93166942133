import { randomFillSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import type { ConnectStream } from '../media/agentStream/streamClient.ts';
import { createCodecRegistry } from '../media/codecs/registry.ts';
import type { MediaThreadData } from '../media/engine/threadMessages.ts';
import { raiseThreadPriority } from '../media/engine/threadPriority.ts';
import { serveMediaThread } from '../media/engine/threadServer.ts';
import { createThreadSleep } from '../media/ticker/threadSleep.ts';
import { dgramPacketIo } from '../media/transport/dgram.ts';
import type { PacketIo } from '../media/transport/packetIo.ts';

/**
 * Builds one media thread; the thread's entry calls it once.
 *
 * @throws {Error} When it is called outside a worker thread.
 */
export function runMediaThread(connectStream: ConnectStream, packetIo: PacketIo = dgramPacketIo): void {
  if (parentPort === null) throw new Error('audio runs in a worker thread only');
  const random = new Uint32Array(1);
  const randomUint32 = (): number => randomFillSync(random)[0] ?? 0;
  serveMediaThread(
    {
      port: parentPort,
      clock: systemClock,
      rest: createThreadSleep(),
      packetIo,
      codecs: createCodecRegistry(),
      connectStream,
      randomUint32,
      hasPriority: raiseThreadPriority(),
    },
    workerData as MediaThreadData,
  );
}
