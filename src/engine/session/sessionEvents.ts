import type { NewLiveEvent } from '../../events/liveEvent.ts';
import type { EndReason, HistoryEvent, Session } from './session.ts';

/** A session was stored. @param started - The first event of its history. */
export function sessionStarted(
  { projectId, sessionId, callId, release, channel, provider, pathwayId }: Session,
  { data: { pathwayVersion, draft } }: HistoryEvent,
): NewLiveEvent {
  const version = { pathwayVersion: Number(pathwayVersion), draft: draft === true };
  const data = { channel, provider, pathwayId, ...version };
  return { type: 'session.started', projectId, sessionId, callId, release, data };
}

export function sessionEnded(
  { projectId, sessionId, callId, release, channel }: Session,
  reason: EndReason,
  missingVariables: readonly string[],
): NewLiveEvent {
  const data = { channel, reason, missingVariables: [...missingVariables] };
  return { type: 'session.ended', projectId, sessionId, callId, release, data };
}
