import { isFinal, isRecorded, isRecordingClosed } from './call.js';
/**
 * The order in which a call ends: its row, its lock and channel, its session with the events that are due, then their
 * facts. Each step may be done again, so that after a crash any node begins anew with the first; `settle` in the row
 * says that the last was done.
 */
export function createCallFinisher(deps) {
  const settle = async (call) => {
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
  const settleIfOver = async ({ projectId, id }) => {
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
function statusEvent({ status, endReason, sip, endedAt }) {
  return { type: 'call_status', at: endedAt, data: { status, endReason, ...(sip ? { sip } : {}) } };
}
/** Both run out by themselves, should Redis be away. */
async function letGo({ lock, slots, onError }, call) {
  const { id, projectId, toNumber, trunkId, direction } = call;
  const outcomes = await Promise.allSettled([
    direction === 'outbound' ? lock.free(projectId, toNumber, id) : undefined,
    trunkId === null ? undefined : slots.free(trunkId, id),
  ]);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') onError(outcome.reason, 'a call’s lock or channel runs out by itself');
  }
}
/** The session's id may be another talk's by now. */
async function endSession({ conversations }, call) {
  const session = await conversations.find(call.projectId, call.sessionId);
  if (session?.instanceId !== call.instanceId) return;
  await conversations.end(call.projectId, call.sessionId, 'call_ended');
}
