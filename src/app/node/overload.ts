import type { Logger } from 'pino';

import { EventLoopWait } from '../../base/async/eventLoopWait.ts';
import { type CallwayError, nodeDraining, nodeOverloaded } from '../../base/errors.ts';
import { type DelayMeter, type LoadChange, OverloadMonitor } from '../../calls/limits/overloadMonitor.ts';
import { voiceUnavailable } from '../../calls/nodes/voiceNodeSelector.ts';
import type { ThreadedMediaEngine } from '../../media/engine/mediaEngine.ts';
import type { VoiceThreads } from '../../voice/threads/voiceThreads.ts';
import { CALL_QUEUE, callQueueMeter, eventLoopMeter, rtpMeter, voiceMeter } from './delayMeters.ts';
import type { ThreadContext } from './threadContext.ts';

/** What may be late on a node. */
export interface NodeLoad {
  readonly media: ThreadedMediaEngine | undefined;
  /** The voice threads; undefined without the role `voice`, and until they are started. */
  readonly voiceThreads: () => VoiceThreads | undefined;
  readonly isDraining: () => boolean;
}

/** Decides what a node accepts at the moment. */
export interface Admission {
  /** The monitor, for the metrics and `/readyz`. */
  readonly overload: OverloadMonitor;
  /** Returns why an order of a call is refused; undefined while orders are accepted. */
  readonly orderRefusal: () => CallwayError | undefined;
  /** Returns why this node refuses a call or an audio stream, and leaves queued calls to other nodes. */
  readonly callRefusal: () => CallwayError | undefined;
}

export function buildAdmission(context: ThreadContext, load: NodeLoad): Admission {
  const { clock, logger, lifecycle } = context;
  const { voiceThreads, isDraining } = load;
  const onChange = (change: LoadChange) => {
    logChange(logger, change);
    voiceThreads()?.tellOverload(isOverloaded());
  };
  const overload = lifecycle.closing(
    new OverloadMonitor({ meters: metersOf(context, load), clock, onChange }),
  );
  const isOverloaded = () => overload.lateParts.some((part) => part !== CALL_QUEUE);
  const refusal = (isLate: boolean): CallwayError | undefined => {
    if (isDraining()) return nodeDraining();
    // A call would be answered, and hear nothing.
    if (voiceThreads()?.running.length === 0) return voiceUnavailable();
    return isLate ? nodeOverloaded() : undefined;
  };
  return {
    overload,
    orderRefusal: () => refusal(overload.lateParts.length > 0),
    callRefusal: () => refusal(isOverloaded()),
  };
}

function metersOf(
  { config, clock, lifecycle, storage }: ThreadContext,
  { media, voiceThreads }: NodeLoad,
): DelayMeter[] {
  const { OVERLOAD_EVENT_LOOP_MS, OVERLOAD_RTP_MS, OVERLOAD_QUEUE_MS, ROLES } = config;
  const meters: DelayMeter[] = [];
  if (OVERLOAD_EVENT_LOOP_MS > 0) {
    const wait = new EventLoopWait();
    lifecycle.onClose(async () => wait.close());
    meters.push(eventLoopMeter('main', wait, OVERLOAD_EVENT_LOOP_MS));
    if (ROLES.includes('voice'))
      meters.push(voiceMeter(() => voiceThreads()?.running ?? [], clock, OVERLOAD_EVENT_LOOP_MS));
  }
  if (media && OVERLOAD_RTP_MS > 0) meters.push(rtpMeter(media, OVERLOAD_RTP_MS));
  if (ROLES.includes('api') && OVERLOAD_QUEUE_MS > 0)
    meters.push(callQueueMeter(storage.waitingCalls, clock, OVERLOAD_QUEUE_MS));
  return meters;
}

function logChange(logger: Logger, { isLate, ...change }: LoadChange): void {
  const fields = { ...change, delayMs: Math.round(change.delayMs) };
  if (isLate) logger.warn(fields, 'node overloaded: new calls are refused');
  else logger.warn(fields, 'node no longer overloaded');
}
