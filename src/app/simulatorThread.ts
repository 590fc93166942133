import { workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { createDnsLookup } from '../infra/httpClient/lookup.ts';
import type { MediaThreadData } from '../media/engine/threadMessages.ts';
import { dgramPacketIo } from '../media/transport/dgram.ts';
import { createConnectStream } from '../streams/connectStream.ts';
import { type Impairment, impairedPacketIo } from '../testing/simulator/impairment.ts';
import { runMediaThread } from './runMediaThread.ts';

/** What the simulator starts its media thread with. */
export interface SimulatorThreadData extends MediaThreadData {
  readonly impairment: Impairment | undefined;
}

// The entry of the simulated phones' media thread: as a call's own, on a line that may be bad.
const { impairment } = workerData as SimulatorThreadData;
runMediaThread(
  createConnectStream({
    clock: systemClock,
    policy: { allowInsecureLoopback: false },
    lookup: createDnsLookup(),
  }),
  impairment ? impairedPacketIo(dgramPacketIo, impairment, systemClock) : dgramPacketIo,
);
