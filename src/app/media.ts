import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { systemClock } from '../base/clock.ts';
import { startThread } from '../base/thread.ts';
import type { TargetPolicy } from '../infra/httpClient/target.ts';
import { startMediaEngine, type ThreadedMediaEngine } from '../media/engine/mediaEngine.ts';
import type { Closers } from './conversation.ts';
import type { GatewayThreadData } from './mediaThread.ts';
import type { Config } from './settings/config.ts';

/** Within what one core carries with all that belongs to a call, whatever the codec. */
const CALLS_PER_THREAD = 200;
/** RTP, and the RTCP above it. */
export const PORTS_PER_CALL = 2;

/** UDP ports for calls' audio. */
export function portsOf(config: Config): number {
  return config.RTP_PORT_MAX + 1 - config.RTP_PORT_MIN;
}

/** Calls that this node's settings let it carry at a time. */
export function callCapacity(config: Config): number {
  const ports = Math.floor(portsOf(config) / PORTS_PER_CALL);
  return config.MAX_CALLS_PER_NODE ?? Math.min(ports, threadsOf(config) * CALLS_PER_THREAD);
}

/**
 * Starts the threads that carry calls' audio.
 *
 * @param egressPolicy - Where users' own bots may be.
 */
export async function buildMedia(
  config: Config,
  logger: Logger,
  egressPolicy: TargetPolicy,
  closers: Closers,
): Promise<ThreadedMediaEngine> {
  const mediaLogger = logger.child({ part: 'media' });
  const engine = await startMediaEngine({
    clock: systemClock,
    startThread: (data) => {
      const workerData: GatewayThreadData = { ...data, egressPolicy };
      return startThread(new URL('./mediaThread.ts', import.meta.url), { workerData, name: 'media' });
    },
    threads: threadsOf(config),
    ports: { min: config.RTP_PORT_MIN, max: config.RTP_PORT_MAX },
    address: config.SIP_HOST,
    publicAddress: config.PUBLIC_IP ?? config.SIP_HOST,
    onFault: ({ kind, reason, ...figures }) =>
      mediaLogger.error({ kind, reason, ...figures }, 'trouble with calls’ audio'),
  });
  closers.push(() => engine.close());
  const threads = await engine.statistics();
  mediaLogger.info(
    { threads: threads.length, hasPriority: threads.every(({ hasPriority }) => hasPriority) },
    'calls’ audio has its threads; those without priority are late on a busy machine (CAP_SYS_NICE)',
  );
  return engine;
}

function threadsOf({ MEDIA_WORKERS }: Config): number {
  return MEDIA_WORKERS ?? Math.max(1, availableParallelism() - 1);
}
