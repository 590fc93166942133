import type { UsageCounter } from '../../agents/accounts/usage.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import {
  type Call,
  type CallChange,
  expectsRecording,
  type FinalStatus,
  isFinal,
  isRecordingFinal,
  type RecordingResult,
} from '../call.ts';
import { callEnded, recordingReady } from '../callEvents.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NumberLock } from '../setup/numberLock.ts';
import { type TransferReport, transferEvent, transferLiveEvent } from '../transfer/transferReport.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';

/** The end of a call, as it is stored. */
export interface CallEnd extends CallChange {
  readonly status: FinalStatus;
  /** The reason for the end; null when the status says enough. */
  readonly endReason: Call['endReason'];
  readonly endedAt: string;
}

export interface CallFinisherDeps {
  readonly calls: Pick<CallStore, 'find' | 'update' | 'completeRecording' | 'markSettled'>;
  readonly conversations: Pick<ConversationEngine, 'find' | 'end'>;
  /** Records for the webhooks that this has happened, and wakes what sends them. */
  readonly recordFact: (
    instanceId: string,
    event: 'call.ended' | 'recording.ready',
    at: Date,
  ) => Promise<void>;
  readonly lock: NumberLock;
  readonly slots: TrunkSlots;
  readonly limiter: Pick<CallLimiter, 'endCall'>;
  readonly usage: UsageCounter;
  /** Publishes live events; undefined when the service publishes none. */
  readonly liveEvents?: LiveEvents | undefined;
  /** Returns a signed link. Default: no link. @param key - The stored recording's key. */
  readonly recordingUrl?: (key: string) => string;
  /** Stores what was said in a turn whose node failed. */
  readonly recoverInterruptedTurn: (call: Pick<Call, 'projectId' | 'sessionId'>) => Promise<void>;
  readonly now: () => number;
  readonly onError: (error: unknown, what: string) => void;
}

type CallKey = Pick<Call, 'projectId' | 'id'>;

/**
 * Ends calls, in this order: the stored call, its lock and slots, its session, then the facts for its webhooks. Every
 * step may be repeated, so that after a crash any node starts again at the first one; the call is marked as settled
 * after the last.
 */
export class CallFinisher {
  readonly #deps: CallFinisherDeps;

  constructor(deps: CallFinisherDeps) {
    this.#deps = deps;
  }

  /**
   * Ends a call. May be repeated.
   *
   * @param nodeId - The node that must still run the call; null for any node.
   * @returns The ended call, also when it had ended before; undefined when another node runs it, or it is deleted.
   */
  async finish(call: CallKey, nodeId: string | null, end: CallEnd): Promise<Call | undefined> {
    await this.#failTransfer(call, nodeId, end);
    const ended = await this.#deps.calls.update(call.id, nodeId, end, statusEvent(end));
    if (!ended) return await this.#settleIfEnded(call);
    const policy = callPolicy(ended);
    if (policy.countsUsage) this.#deps.usage.add(ended.projectId, { calls: 1, callMs: talkTimeMs(ended) });
    if (policy.publishesEvents) this.#deps.liveEvents?.publish(callEnded(ended));
    await this.settle(ended);
    return ended;
  }

  /** Does what is left to do for a call that was canceled before a node had it. */
  async settleCanceled(call: Call): Promise<void> {
    this.#deps.liveEvents?.publish(callEnded(call));
    await this.settle(call);
  }

  /** Stores the final state of the recording, during the call or after it. The first one counts. */
  async completeRecording(call: CallKey, recording: RecordingResult): Promise<void> {
    const { calls, liveEvents, recordingUrl } = this.#deps;
    const completed = await calls.completeRecording(call.id, recording);
    if (completed && callPolicy(completed).publishesEvents) {
      const url = recording.key === null ? undefined : recordingUrl?.(recording.key);
      liveEvents?.publish(recordingReady(completed, recording, url));
    }
    await this.#settleIfEnded(call);
  }

  /** Does what is left to do for an ended call. */
  async settle(call: Call): Promise<void> {
    const { recordFact, now, calls } = this.#deps;
    await this.#releaseSlots(call);
    await this.#endSession(call);
    await recordFact(call.instanceId, 'call.ended', new Date(call.endedAt ?? now()));
    if (expectsRecording(call)) {
      // Continued by completeRecording.
      if (!isRecordingFinal(call)) return;
      await recordFact(call.instanceId, 'recording.ready', new Date(now()));
    }
    await calls.markSettled(call.id);
  }

  /** The transfer in progress of a call whose node has failed. */
  async #failTransfer({ id }: CallKey, nodeId: string | null, { transfer, endedAt }: CallEnd): Promise<void> {
    if (!transfer) return;
    const { to, mode, reason } = transfer;
    const step: TransferReport = {
      status: 'failed',
      to,
      mode,
      by: mode === 'refer' ? 'refer' : 'second_leg',
      outcome: 'failed',
      ...(reason === null ? {} : { reason }),
      targetsLeft: 0,
    };
    const told = { type: 'transfer', at: endedAt, data: transferEvent(step, undefined) } as const;
    const call = await this.#deps.calls.update(id, nodeId, { transfer }, told);
    const event = transferLiveEvent(step);
    if (!call || !callPolicy(call).publishesEvents || !event) return;
    const { projectId, sessionId } = call;
    this.#deps.liveEvents?.publish({ ...event, projectId, sessionId, callId: id });
  }

  async #settleIfEnded({ projectId, id }: CallKey): Promise<Call | undefined> {
    const call = await this.#deps.calls.find(projectId, id);
    if (!call || !isFinal(call.status)) return undefined;
    await this.settle(call);
    return call;
  }

  async #releaseSlots({ id, projectId, toNumber, trunkId, direction }: Call): Promise<void> {
    const { lock, slots, limiter, onError } = this.#deps;
    const outcomes = await Promise.allSettled([
      direction === 'outbound' ? lock.release(projectId, toNumber, id) : undefined,
      trunkId === null ? undefined : slots.release(trunkId, id),
      limiter.endCall({ id, projectId }),
    ]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        onError(outcome.reason, 'lock or slot of a call not released, it expires');
    }
  }

  async #endSession(call: Call): Promise<void> {
    const { conversations, recoverInterruptedTurn, onError } = this.#deps;
    const session = await conversations.find(call.projectId, call.sessionId);
    // The session id may have been used again.
    if (session?.instanceId !== call.instanceId) return;
    await recoverInterruptedTurn(call).catch((error: unknown) =>
      onError(error, 'interrupted turn not recovered'),
    );
    await conversations.end(call.projectId, call.sessionId, 'call_ended');
  }
}

function talkTimeMs({ answeredAt, endedAt }: Call): number {
  return answeredAt === null || endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(answeredAt);
}

function statusEvent({ status, endReason, sip, endedAt }: CallEnd): HistoryEvent {
  return { type: 'call_status', at: endedAt, data: { status, endReason, sip: sip ?? undefined } };
}
