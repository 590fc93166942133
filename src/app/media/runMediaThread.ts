import { randomFillSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import type { ConnectStream } from '../../media/agentStream/streamClient.ts';
import { createCodecRegistry } from '../../media/codecs/registry.ts';
import type { MediaThreadData } from '../../media/engine/threadMessages.ts';
import { ThreadServer } from '../../media/engine/threadServer.ts';
import type { SupervisorGate } from '../../media/supervision/supervisorStream.ts';
import { createThreadSleep } from '../../media/ticker/ticker.ts';
import type { PacketIo } from '../../media/transport/packetIo.ts';

/**
 * Runs a media thread. Its entry file calls this once.
 *
 * @param raisePriority - Of the thread; returns whether that is allowed.
 *
 * @throws {Error} When it is called outside a worker thread.
 */
export function runMediaThread(
  connectStream: ConnectStream,
  packetIo: PacketIo,
  raisePriority: () => boolean,
  supervisorGate?: SupervisorGate,
): void {
  if (parentPort === null) throw new Error('a media thread runs in a worker thread only');
  const random = new Uint32Array(1);
  const deps = {
    port: parentPort,
    clock: systemClock,
    sleep: createThreadSleep(),
    packetIo,
    codecs: createCodecRegistry(),
    connectStream,
    supervisorGate,
    randomUint32: () => randomFillSync(random)[0] ?? 0,
    hasPriority: raisePriority(),
  };
  new ThreadServer(deps, workerData as MediaThreadData).start();
}
