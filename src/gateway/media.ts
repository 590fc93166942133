import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { systemClock } from '../base/clock.ts';
import { startThread } from '../base/thread.ts';
import type { Config } from '../config/config.ts';
import { startMediaEngine, type ThreadedMediaEngine } from '../media/engine/mediaEngine.ts';
import type { Closers } from './conversation.ts';

/**
 * Starts the threads that carry calls' audio.
 *
 * @param threadFile - The thread's entry, without its ending: what calls `runMediaThread`.
 */
export async function buildMedia(
  config: Config,
  logger: Logger,
  threadFile: URL,
  closers: Closers,
): Promise<ThreadedMediaEngine> {
  const mediaLogger = logger.child({ part: 'media' });
  const engine = await startMediaEngine({
    clock: systemClock,
    startThread: (workerData) => startThread(threadFile, { workerData, name: 'media' }),
    threads: config.MEDIA_WORKERS ?? Math.max(1, availableParallelism() - 1),
    ports: { min: config.RTP_PORT_MIN, max: config.RTP_PORT_MAX },
    address: config.SIP_HOST,
    publicAddress: config.PUBLIC_IP ?? config.SIP_HOST,
    onTrouble: ({ kind, reason, ...figures }) =>
      mediaLogger.error({ kind, reason, ...figures }, 'trouble with calls’ audio'),
  });
  closers.push(() => engine.close());
  return engine;
}
