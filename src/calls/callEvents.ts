import type { NewLiveEvent } from '../events/liveEvent.ts';
import { type Call, type RecordingResult, talkTimeMs, violationsOf } from './call.ts';
import type { Participant, ReportedAction } from './participants/participant.ts';

/** Creates an event that needs no data beyond the call's. */
export function callEvent(
  type: 'call.queued' | 'call.ringing' | 'call.answered' | 'call.held' | 'call.resumed',
  call: Call,
): NewLiveEvent {
  return { type, ...subjectOf(call), data: dataOf(call) };
}

/** @param call - The call as stored at its end. */
export function callEnded(call: Call): NewLiveEvent {
  const { status, endReason, sip } = call;
  const ended = { status, endReason, durationMs: talkTimeMs(call), sip, violations: violationsOf(call) };
  const data = { ...dataOf(call), ...ended };
  return { type: 'call.ended', ...subjectOf(call), data };
}

/** @param url - The stored recording's URL. */
export function recordingReady(
  call: Call,
  { status, durationMs, error }: RecordingResult,
  url: string | undefined,
): NewLiveEvent {
  const data = {
    status: status === 'ready' ? ('ready' as const) : ('failed' as const),
    durationMs,
    recordingUrl: url,
    error: error ?? undefined,
  };
  return { type: 'recording.ready', ...subjectOf(call), data };
}

/** @param reason - The reason for which they left. */
export function participantEvent(
  what: ReportedAction,
  call: Call,
  { id: participantId, to, muted, held }: Participant,
  reason: string | undefined,
): NewLiveEvent {
  const data = { participantId, to, muted, held, reason };
  return { type: `participant.${what}`, ...subjectOf(call), data };
}

/** What every event of a call's says of it. */
export function subjectOf({ projectId, sessionId, id, release }: Call) {
  return { projectId, sessionId, callId: id, release };
}

function dataOf({ direction, fromNumber, toNumber, trunkId, campaignId, contactId }: Call) {
  const campaign = { campaignId: campaignId ?? undefined, contactId: contactId ?? undefined };
  return { direction, fromNumber, toNumber, trunkId, ...campaign };
}
