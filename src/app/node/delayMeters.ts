import type { EventLoopWait } from '../../base/async/eventLoopWait.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { DelayMeter } from '../../calls/limits/overloadMonitor.ts';
import type { WaitingCalls } from '../../calls/setup/waitingCalls.ts';
import type { ThreadedMediaEngine } from '../../media/engine/mediaEngine.ts';
import { percentileOf } from '../../media/ticker/delayHistogram.ts';
import type { RunningVoiceThread } from '../../voice/threads/voiceThreads.ts';

/** Says nothing of this node alone: another one may take the calls. */
export const CALL_QUEUE = 'queue';
/** The rest may come of a single stall. */
const RTP_SHARE = 0.95;
/** A node takes the calls of a project within this time, by its poll. */
const TAKEN_WITHIN_MS = 1_000;

/** Measures the event-loop delay of one thread. */
export function eventLoopMeter(part: string, wait: EventLoopWait, limitMs: number): DelayMeter {
  return { part, limitMs, readMs: async () => wait.readMs() };
}

/** The event loops of the voice threads, by the one that is latest; or for how long none has been ready. */
export function voiceMeter(
  threads: () => readonly Pick<RunningVoiceThread, 'delay'>[],
  clock: Clock,
  limitMs: number,
): DelayMeter {
  let readyAtMs = clock.monotonicMs();
  return {
    part: 'voice',
    limitMs,
    async readMs() {
      const delaysMs = threads().map(({ delay }) => delay.waitMs);
      if (delaysMs.length > 0) readyAtMs = clock.monotonicMs();
      return Math.max(clock.monotonicMs() - readyAtMs, ...delaysMs);
    },
  };
}

/** The sending of RTP, by the thread that is latest. */
export function rtpMeter(media: ThreadedMediaEngine, limitMs: number): DelayMeter {
  let before: readonly Float64Array[] = [];
  return {
    part: 'rtp',
    limitMs,
    async readMs() {
      const now = (await media.statistics()).map(({ tickDelayCounts }) => tickDelayCounts);
      const delaysMs = now.map((counts, thread) => {
        // A thread that was restarted counts from 0 again.
        const fresh = counts.map((count, bucket) => Math.max(0, count - (before[thread]?.[bucket] ?? 0)));
        return percentileOf(fresh, RTP_SHARE);
      });
      before = now;
      return Math.max(0, ...delaysMs);
    },
  };
}

/** Queued calls that no node takes: for how long there has always been one. */
export function callQueueMeter({ isLeft }: WaitingCalls, clock: Clock, limitMs: number): DelayMeter {
  let emptyAtMs = clock.monotonicMs();
  return {
    part: CALL_QUEUE,
    limitMs,
    async readMs() {
      // Without the database new calls are refused anyway.
      const someWait = await isLeft(new Date(clock.now() - TAKEN_WITHIN_MS)).catch(() => false);
      if (!someWait) emptyAtMs = clock.monotonicMs();
      return clock.monotonicMs() - emptyAtMs;
    },
  };
}
