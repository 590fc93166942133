import type { UsageCounter } from '../../agents/accounts/usage.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { CallKey } from '../call.ts';
import {
  type Call,
  type CallChange,
  expectsRecording,
  type FinalStatus,
  isFinal,
  isRecordingFinal,
  type RecordingResult,
} from '../call.ts';
import { callEnded, recordingReady, subjectOf } from '../callEvents.ts';
import { callPolicy } from '../callPolicy.ts';
import type { CallStore } from '../callStore.ts';
import type { CallPlaces } from '../limits/callPlaces.ts';
import type { CallSessions } from '../setup/callSessions.ts';
import { type TransferReport, transferEvent, transferLiveEvent } from '../transfer/transferReport.ts';

/** The end of a call, as it is stored. */
export interface CallEnd extends CallChange {
  readonly status: FinalStatus;
  /** The reason for the end; null when the status says enough. */
  readonly endReason: Call['endReason'];
  readonly endedAt: string;
}

export interface CallFinisherDeps {
  readonly calls: CallStore;
  readonly sessions: CallSessions;
  readonly places: CallPlaces;
  /** Records for the webhooks that this has happened, and wakes what sends them. */
  readonly recordFact: (
    instanceId: string,
    event: 'call.ended' | 'recording.ready',
    at: Date,
  ) => Promise<void>;
  readonly usage: UsageCounter;
  /** Prices the call's session with the call; may be repeated. */
  readonly updateCost: (instanceId: string) => Promise<void>;
  /** Settles the contact of a campaign that the call was placed for; may be repeated. */
  readonly settleContact: (call: Call) => Promise<void>;
  /** Publishes live events; undefined when the service publishes none. */
  readonly liveEvents?: LiveEvents | undefined;
  /** Returns a signed link. Default: no link. @param key - The stored recording's key. */
  readonly recordingUrl?: (key: string) => string;
  readonly now: () => number;
}

/**
 * Ends calls, in this order: the stored call, its lock and slots, its campaign's contact, its session and what it cost,
 * then the facts for its webhooks. Every step may be repeated, so that after a crash any node starts again at the first one; the call is marked as settled
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
    const { places, sessions, recordFact, settleContact, updateCost, now, calls } = this.#deps;
    await places.release(call);
    if (call.campaignId !== null) await settleContact(call);
    await sessions.end(call);
    await updateCost(call.instanceId);
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
      reason: reason ?? undefined,
      targetsLeft: 0,
    };
    const told = { type: 'transfer', at: endedAt, data: transferEvent(step, undefined) } as const;
    const call = await this.#deps.calls.update(id, nodeId, { transfer }, told);
    const event = transferLiveEvent(step);
    if (!call || !callPolicy(call).publishesEvents || !event) return;
    this.#deps.liveEvents?.publish({ ...event, ...subjectOf(call) });
  }

  async #settleIfEnded({ projectId, id }: CallKey): Promise<Call | undefined> {
    const call = await this.#deps.calls.find(projectId, id);
    if (!call || !isFinal(call.status)) return undefined;
    await this.settle(call);
    return call;
  }
}

function talkTimeMs({ answeredAt, endedAt }: Call): number {
  return answeredAt === null || endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(answeredAt);
}

function statusEvent({ status, endReason, sip, endedAt }: CallEnd): HistoryEvent {
  return { type: 'call_status', at: endedAt, data: { status, endReason, sip: sip ?? undefined } };
}
