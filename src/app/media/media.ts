import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { startThread } from '../../base/threads/thread.ts';
import { systemClock } from '../../base/values/clock.ts';
import { callCapacity, type NodeCapacity, PORTS_PER_CALL } from '../../calls/limits/nodeCapacity.ts';
import type { TargetPolicy } from '../../http/target.ts';
import { startMediaEngine, type ThreadedMediaEngine } from '../../media/engine/mediaEngine.ts';
import type { CallLoad } from '../../observability/metrics/node.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';
import type { GatewayThreadData } from './mediaThread.ts';

function portCount(config: Config): number {
  return config.RTP_PORT_MAX + 1 - config.RTP_PORT_MIN;
}

/** Maximum number of concurrent calls on this node. */
export function maxCalls(config: Config): number {
  return config.MAX_CALLS_PER_NODE ?? callCapacity(threadCount(config), portCount(config));
}

/** The sources of the gauges of calls. */
export function mediaLoad(config: Config, media: ThreadedMediaEngine, capacity: NodeCapacity): CallLoad {
  return {
    capacity,
    mediaSessions: () => media.sessions,
    ports: { used: () => media.sessions * PORTS_PER_CALL, limit: portCount(config) },
  };
}

/**
 * Starts the media threads.
 *
 * @param targetPolicy - Allowed addresses of users' bots.
 */
export async function buildMedia(
  config: Config,
  logger: Logger,
  targetPolicy: TargetPolicy,
  lifecycle: Lifecycle,
): Promise<ThreadedMediaEngine> {
  const mediaLogger = logger.child({ part: 'media' });
  const engine = await startMediaEngine({
    clock: systemClock,
    startThread: (data) => {
      const workerData: GatewayThreadData = { ...data, targetPolicy, httpHost: config.HOST };
      return startThread(new URL('./mediaThread.ts', import.meta.url), { workerData, name: 'media' });
    },
    threads: threadCount(config),
    ports: { min: config.RTP_PORT_MIN, max: config.RTP_PORT_MAX },
    address: config.SIP_HOST,
    publicAddress: config.PUBLIC_IP ?? config.SIP_HOST,
    onFault: ({ kind, reason, ...figures }) => mediaLogger.error({ kind, reason, ...figures }, 'media fault'),
  });
  lifecycle.onClose(() => engine.close());
  const threads = await engine.statistics();
  const hasPriority = threads.every((thread) => thread.hasPriority);
  mediaLogger.info({ threads: threads.length, hasPriority }, 'media threads started');
  if (!hasPriority) mediaLogger.info('media threads without CAP_SYS_NICE may send late on a busy machine');
  return engine;
}

function threadCount({ MEDIA_WORKERS }: Config): number {
  return MEDIA_WORKERS ?? Math.max(1, availableParallelism() - 1);
}
