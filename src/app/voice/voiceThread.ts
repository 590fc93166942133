import { constants } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';

import { EventLoopWait } from '../../base/async/eventLoopWait.ts';
import { notifierOf } from '../../base/threads/remote.ts';
import { serveThread } from '../../base/threads/watchedThread.ts';
import { setThreadPriority } from '../../media/engine/threadPriority.ts';
import { createLogger } from '../../observability/logger.ts';
import { REPORT_INTERVAL_MS, type VoiceThreadEvents } from '../../voice/threads/threadMessages.ts';
import type { ThreadReports } from './threadReports.ts';
import { startVoiceService, type VoiceServiceStart } from './voiceService.ts';

/** Interval of the samples, which the delay of each includes. */
const SAMPLE_INTERVAL_MS = 10;

// The entry of a voice thread: below the media threads, whose packets leave every 20 ms, and above all else.
if (parentPort === null) throw new Error('a voice thread runs in a worker thread only');
const start = workerData as VoiceServiceStart;
const main = notifierOf<VoiceThreadEvents & ThreadReports>(parentPort);
const hasPriority = setThreadPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
const logger = createLogger(start.config.LOG_LEVEL, { write: main.log }).child({ thread: start.name });
reportDelays();
const service = await startVoiceService(start, { logger, main });
serveThread(parentPort, service, { port: service.port, socketPath: service.socketPath });
logger.info({ part: 'voice', hasPriority }, 'voice thread started');

function reportDelays(): void {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
  delays.enable();
  const wait = new EventLoopWait();
  const toMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - SAMPLE_INTERVAL_MS);
  setInterval(() => {
    const delay = { waitMs: wait.readMs(), p99Ms: toMs(delays.percentile(99)), maxMs: toMs(delays.max) };
    delays.reset();
    main.delay(delay);
  }, REPORT_INTERVAL_MS);
}
