import { constants } from 'node:os';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../../base/values/clock.ts';
import { createDnsLookup } from '../../http/lookup.ts';
import type { TargetPolicy } from '../../http/target.ts';
import type { MediaThreadData } from '../../media/engine/threadMessages.ts';
import { REAL_TIME, setRealTime, setThreadPriority } from '../../media/engine/threadPriority.ts';
import { createThreadSleep } from '../../media/ticker/ticker.ts';
import { udpPacketIo } from '../../media/transport/udpSocket.ts';
import { createConnectStream } from '../../streams/connectStream.ts';
import { createSupervisorGate } from '../../streams/supervisorGate.ts';
import { runMediaThread } from './runMediaThread.ts';

/** Worker data of the gateway's media threads. */
export interface GatewayThreadData extends MediaThreadData {
  readonly targetPolicy: TargetPolicy;
  /** The address to listen on for supervisors' WebSockets. */
  readonly httpHost: string;
}

// The entry of a media thread: audio on one side, WebSockets to agents and of supervisors on the other.
const { targetPolicy, httpHost } = workerData as GatewayThreadData;
await runMediaThread({
  connectStream: createConnectStream({ clock: systemClock, policy: targetPolicy, lookup: createDnsLookup() }),
  packetIo: udpPacketIo,
  raisePriority,
  sleep: createThreadSleep(),
  supervisorGate: createSupervisorGate({ host: httpHost, clock: systemClock }),
});

/** Raises the thread's priority, to the real-time policy where that is allowed. @returns Whether either was allowed. */
function raisePriority(): boolean {
  const hasPriority = setThreadPriority(constants.priority.PRIORITY_HIGH);
  return setRealTime(REAL_TIME.calls) || hasPriority;
}
