import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { Call } from '../../../../src/calls/call.ts';
import { type HistoryEvent, newSessionState, type Session } from '../../../../src/engine/session/session.ts';
import { makeCall as callWith } from '../../../calls/support/makeCall.ts';
import { makeSession } from '../../../engine/support/makeSession.ts';
import { BEGIN, type SessionWorld } from './sessions.ts';

/** A queued outbound call and its session, not stored. */
export function makeCall(
  { projectId, releaseId, release }: Pick<SessionWorld, 'projectId' | 'releaseId' | 'release'>,
  change: Partial<Call> = {},
): { call: Call; session: Session; started: HistoryEvent } {
  const id = change.id ?? uuidV7();
  const call = callWith({
    id,
    projectId,
    sessionId: `session of ${id}`,
    instanceId: uuidV7(),
    status: 'queued',
    trunkId: null,
    metadata: { order: [1, { a: 'ü' }] },
    createdAt: BEGIN,
    startedAt: null,
    answeredAt: null,
    nodeId: null,
    ...change,
  });
  const session = makeSession({
    projectId,
    sessionId: call.sessionId,
    instanceId: call.instanceId,
    callId: id,
    pathwayId: release.pathwayId,
    releaseId,
    release: call.release,
    startedAt: BEGIN,
    lastActivityAt: BEGIN,
    state: newSessionState({ name: 'Ada' }),
  });
  return { call, session, started: { type: 'session_started', at: BEGIN, data: {} } };
}
