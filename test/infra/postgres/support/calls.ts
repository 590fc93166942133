import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { Call } from '../../../../src/calls/call.ts';
import type { HistoryEvent, Session } from '../../../../src/engine/session/session.ts';
import { newSessionState } from '../../../../src/engine/session/session.ts';
import { BEGIN, type SessionWorld } from './sessions.ts';

/** A queued outbound call and its session, not stored. */
export function makeCall(
  world: Pick<SessionWorld, 'projectId' | 'releaseId' | 'release'>,
  change: Partial<Call> = {},
): { call: Call; session: Session; started: HistoryEvent } {
  const id = change.id ?? uuidV7();
  const call: Call = {
    id,
    projectId: world.projectId,
    sessionId: `session of ${id}`,
    instanceId: uuidV7(),
    release: null,
    direction: 'outbound',
    status: 'queued',
    endReason: null,
    fromNumber: '+886223456789',
    toNumber: '+886912345678',
    trunkId: null,
    sipCallId: null,
    sip: null,
    q850Cause: null,
    settings: { ringTimeoutSeconds: 45, maxDurationSeconds: 3600, record: true, media: null },
    metadata: { order: [1, { a: 'ü' }] },
    externalId: null,
    createdAt: BEGIN,
    notBefore: null,
    startedAt: null,
    answeredAt: null,
    endedAt: null,
    mediaQuality: null,
    recording: null,
    answeringMachine: null,
    supervision: null,
    disclosures: [],
    nodeId: null,
    hangupRequested: false,
    transfer: null,
    campaignId: null,
    contactId: null,
    isTest: false,
    priority: 0,
    ...change,
  };
  const session: Session = {
    projectId: world.projectId,
    sessionId: call.sessionId,
    instanceId: call.instanceId,
    channel: 'phone',
    provider: null,
    callId: id,
    pathwayId: world.release.pathwayId,
    releaseId: world.releaseId,
    release: call.release,
    turn: 0,
    startedAt: BEGIN,
    lastActivityAt: BEGIN,
    state: newSessionState({ name: 'Ada' }),
  };
  return { call, session, started: { type: 'session_started', at: BEGIN, data: {} } };
}
