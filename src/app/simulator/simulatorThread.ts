import { constants } from 'node:os';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../../base/values/clock.ts';
import { createDnsLookup } from '../../http/lookup.ts';
import type { MediaThreadData } from '../../media/engine/threadMessages.ts';
import { REAL_TIME, setRealTime, setThreadPriority } from '../../media/engine/threadPriority.ts';
import type { Impairment } from '../../media/transport/packetIo.ts';
import { udpPacketIo } from '../../media/transport/udpSocket.ts';
import { createConnectStream } from '../../streams/connectStream.ts';
import { impairedPacketIo } from '../../testing/simulator/impairment.ts';
import { runMediaThread } from '../media/runMediaThread.ts';

/** Worker data of the simulator's media thread. */
export interface SimulatorThreadData extends MediaThreadData {
  readonly impairment: Impairment | undefined;
}

// Entry point of the simulator's media thread: as a gateway's, with impairment. It ticks by timers, exact to 2 ms, since V8
// has one lock for the sleeping threads of a process: a gateway's thread would wait for this one, which comes after it.
const { impairment } = workerData as SimulatorThreadData;
await runMediaThread({
  connectStream: createConnectStream({
    clock: systemClock,
    policy: { allowInsecureLoopback: false },
    lookup: createDnsLookup(),
  }),
  packetIo: impairedPacketIo(udpPacketIo, impairment, systemClock),
  raisePriority,
});

/** Raises the thread's priority, but less than a gateway on this machine, whose live calls come first. */
function raisePriority(): boolean {
  const hasPriority = setThreadPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
  return setRealTime(REAL_TIME.phones) || hasPriority;
}
