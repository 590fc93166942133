import { constants } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';

import { EventLoopWait } from '../../base/async/eventLoopWait.ts';
import { systemThreadId } from '../../base/threads/threadCpuTime.ts';
import { setThreadPriority } from '../../media/engine/threadPriority.ts';
import { createLogger } from '../../observability/logger.ts';
import type { StreamGrant } from '../../streams/streamTickets.ts';
import {
  type FromVoiceThread,
  REPORT_INTERVAL_MS,
  type ToVoiceThread,
} from '../../voice/threads/threadMessages.ts';
import type { ThreadReport } from './threadReports.ts';
import { startVoiceService, type VoiceServiceStart } from './voiceService.ts';

/** Interval of the samples, which the delay of each includes. */
const SAMPLE_INTERVAL_MS = 10;

// The entry of a voice thread: below the media threads, whose packets leave every 20 ms, and above all else.
if (parentPort === null) throw new Error('a voice thread runs in a worker thread only');
const port = parentPort;
const start = workerData as VoiceServiceStart;
const post = (message: FromVoiceThread<ThreadReport>) => port.postMessage(message);
const report = (one: ThreadReport) => post({ kind: 'report', report: one });
const hasPriority = setThreadPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
const logger = createLogger(start.config.LOG_LEVEL, { write: (line) => report({ kind: 'log', line }) }).child(
  {
    thread: start.name,
  },
);
reportDelays();
const service = await startVoiceService(start, {
  logger,
  report,
  onSessions: (count) => post({ kind: 'sessions', count }),
});
port.on('message', (message: ToVoiceThread<StreamGrant>) => void obey(message));
post({ kind: 'ready', port: service.port, socketPath: service.socketPath, threadId: systemThreadId() });
logger.info({ part: 'voice', hasPriority }, 'voice thread started');

async function obey(message: ToVoiceThread<StreamGrant>): Promise<void> {
  if (message.kind === 'admit') return service.admit(message.ticket, message.grant);
  if (message.kind === 'register') {
    await service.register();
    return post({ kind: 'registered' });
  }
  if (message.kind === 'overload') return service.tellOverload(message.isOverloaded);
  if (message.kind === 'drain') {
    await service.drain(message.graceMs);
    return post({ kind: 'drained' });
  }
  await service.close();
  // At once: what is still closing must not hold up the stop of the node.
  process.exit();
}

function reportDelays(): void {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
  delays.enable();
  const wait = new EventLoopWait();
  const toMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - SAMPLE_INTERVAL_MS);
  setInterval(() => {
    const delay = { waitMs: wait.readMs(), p99Ms: toMs(delays.percentile(99)), maxMs: toMs(delays.max) };
    delays.reset();
    post({ kind: 'delay', delay });
  }, REPORT_INTERVAL_MS);
}
