import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { HistoryEvent } from '../engine/session/session.ts';
import {
  type Call,
  type CallChange,
  type CallRecording,
  isFinal,
  isRecorded,
  isRecordingClosed,
} from './call.ts';
import type { CallGuard } from './callGuard.ts';
import type { NumberLock, TrunkSlots } from './coordination.ts';
import type { CallStore } from './stores.ts';

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
  recordingDone(call: Pick<Call, 'projectId' | 'id'>, recording: CallRecording): Promise<void>;
  /** Does for a call that is over what is left to do. */
  settle(call: Call): Promise<void>;
}

export interface FinisherDeps {
  readonly calls: Pick<CallStore, 'find' | 'update' | 'closeRecording' | 'settle'>;
  readonly conversations: Pick<ConversationEngine, 'find' | 'end'>;
  /** Notes that what a webhook reports is known. */
  readonly tell: (instanceId: string, event: 'call.ended' | 'recording.ready', at: Date) => Promise<void>;
  readonly lock: Pick<NumberLock, 'free'>;
  readonly slots: Pick<TrunkSlots, 'free'>;
  readonly guard: Pick<CallGuard, 'end'>;
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
export function createCallFinisher(deps: FinisherDeps): CallFinisher {
  const settle = async (call: Call): Promise<void> => {
    await letGo(deps, call);
    await endSession(deps, call);
    await deps.tell(call.instanceId, 'call.ended', new Date(call.endedAt ?? deps.now()));
    if (isRecorded(call)) {
      deps.onTold();
      // Whoever closes the recording goes on from here.
      if (!isRecordingClosed(call)) return;
      await deps.tell(call.instanceId, 'recording.ready', new Date(deps.now()));
    }
    deps.onTold();
    await deps.calls.settle(call.id);
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
    async recordingDone(call, recording) {
      await deps.calls.closeRecording(call.id, recording);
      await settleIfOver(call);
    },
  };
}

function statusEvent({ status, endReason, sip, endedAt }: CallEnd): HistoryEvent {
  return { type: 'call_status', at: endedAt, data: { status, endReason, ...(sip ? { sip } : {}) } };
}

/** All run out by themselves, should Redis be away. */
async function letGo({ lock, slots, guard, onError }: FinisherDeps, call: Call): Promise<void> {
  const { id, projectId, toNumber, trunkId, direction } = call;
  const outcomes = await Promise.allSettled([
    direction === 'outbound' ? lock.free(projectId, toNumber, id) : undefined,
    trunkId === null ? undefined : slots.free(trunkId, id),
    guard.end(call),
  ]);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      onError(outcome.reason, 'a call’s lock, channel or place runs out by itself');
  }
}

/** The session's id may be another talk's by now. */
async function endSession(
  { conversations, keepLostWords, onError }: FinisherDeps,
  call: Call,
): Promise<void> {
  const session = await conversations.find(call.projectId, call.sessionId);
  if (session?.instanceId !== call.instanceId) return;
  await keepLostWords(call).catch((error: unknown) => onError(error, 'what a lost node heard was not kept'));
  await conversations.end(call.projectId, call.sessionId, 'call_ended');
}
