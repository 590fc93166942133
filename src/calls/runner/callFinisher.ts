import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import {
  type Call,
  type CallChange,
  expectsRecording,
  isFinal,
  isRecordingFinal,
  type RecordingResult,
} from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NumberLock } from '../setup/numberLock.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';

/** How a call ended. */
export interface CallEnd extends CallChange {
  readonly status: 'completed' | 'busy' | 'no_answer' | 'failed' | 'canceled';
  /** Null where the status says it all. */
  readonly endReason: Call['endReason'];
  readonly endedAt: string;
}

/** Sees to all that a call's end makes due, once or several times over. */
export interface CallFinisher {
  /**
   * Ends a call.
   *
   * @param nodeId - Only while this node carries it; null ends it whoever does.
   * @returns The call as it ended, be it now or before; undefined where it lives on with another node, or is gone.
   */
  finish(
    call: Pick<Call, 'projectId' | 'id'>,
    nodeId: string | null,
    end: CallEnd,
  ): Promise<Call | undefined>;
  /** Keeps what became of a recording, during the call or after it; the first time counts. */
  completeRecording(call: Pick<Call, 'projectId' | 'id'>, recording: RecordingResult): Promise<void>;
  /** Does for a call that is over what is left to do. */
  settle(call: Call): Promise<void>;
}

export interface CallFinisherDeps {
  readonly calls: Pick<CallStore, 'find' | 'update' | 'completeRecording' | 'markSettled'>;
  readonly conversations: Pick<ConversationEngine, 'find' | 'end'>;
  /** Notes that what a webhook reports is known. */
  readonly tell: (instanceId: string, event: 'call.ended' | 'recording.ready', at: Date) => Promise<void>;
  readonly lock: Pick<NumberLock, 'release'>;
  readonly slots: Pick<TrunkSlots, 'release'>;
  readonly guard: Pick<CallLimiter, 'endCall'>;
  /** Webhooks may be due now. */
  readonly onTold: () => void;
  /** Keeps what was said in a turn whose node was lost. */
  readonly keepLostWords: (call: Pick<Call, 'projectId' | 'sessionId'>) => Promise<void>;
  readonly now: () => number;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * The order in which a call ends: its row, its lock and channel, its session with the events that are due, then their
 * facts. Each step may be done again, so that after a crash any node begins anew with the first; `settle` in the row
 * says that the last was done.
 */
export function createCallFinisher(deps: CallFinisherDeps): CallFinisher {
  const settle = async (call: Call): Promise<void> => {
    await letGo(deps, call);
    await endSession(deps, call);
    await deps.tell(call.instanceId, 'call.ended', new Date(call.endedAt ?? deps.now()));
    if (expectsRecording(call)) {
      deps.onTold();
      // Whoever closes the recording goes on from here.
      if (!isRecordingFinal(call)) return;
      await deps.tell(call.instanceId, 'recording.ready', new Date(deps.now()));
    }
    deps.onTold();
    await deps.calls.markSettled(call.id);
  };
  const settleIfOver = async ({
    projectId,
    id,
  }: Pick<Call, 'projectId' | 'id'>): Promise<Call | undefined> => {
    const call = await deps.calls.find(projectId, id);
    if (!call || !isFinal(call.status)) return undefined;
    await settle(call);
    return call;
  };

  return {
    settle,
    async finish(call, nodeId, end) {
      const ended = await deps.calls.update(call.id, nodeId, end, statusEvent(end));
      if (!ended) return await settleIfOver(call);
      await settle(ended);
      return ended;
    },
    async completeRecording(call, recording) {
      await deps.calls.completeRecording(call.id, recording);
      await settleIfOver(call);
    },
  };
}

function statusEvent({ status, endReason, sip, endedAt }: CallEnd): HistoryEvent {
  return { type: 'call_status', at: endedAt, data: { status, endReason, ...(sip ? { sip } : {}) } };
}

/** All run out by themselves, should Redis be away. */
async function letGo({ lock, slots, guard, onError }: CallFinisherDeps, call: Call): Promise<void> {
  const { id, projectId, toNumber, trunkId, direction } = call;
  const outcomes = await Promise.allSettled([
    direction === 'outbound' ? lock.release(projectId, toNumber, id) : undefined,
    trunkId === null ? undefined : slots.release(trunkId, id),
    guard.endCall(call),
  ]);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      onError(outcome.reason, 'a call’s lock, channel or place runs out by itself');
  }
}

/** The session's id may be another talk's by now. */
async function endSession(
  { conversations, keepLostWords, onError }: CallFinisherDeps,
  call: Call,
): Promise<void> {
  const session = await conversations.find(call.projectId, call.sessionId);
  if (session?.instanceId !== call.instanceId) return;
  await keepLostWords(call).catch((error: unknown) => onError(error, 'what a lost node heard was not kept'));
  await conversations.end(call.projectId, call.sessionId, 'call_ended');
}
