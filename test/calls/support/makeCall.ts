import type { Call } from '../../../src/calls/call.ts';

export const AT = '2026-01-01T00:00:00.000Z';
/** This many seconds after {@link AT}. */
export const later = (seconds: number): string => new Date(Date.parse(AT) + seconds * 1000).toISOString();

export function makeCall(change: Partial<Call> = {}): Call {
  return {
    id: 'call',
    projectId: 'project',
    sessionId: 'session',
    instanceId: 'instance',
    release: null,
    direction: 'outbound',
    status: 'in_progress',
    endReason: null,
    fromNumber: '+886223456789',
    toNumber: '+886912345678',
    trunkId: 'trunk',
    sipCallId: null,
    sip: null,
    q850Cause: null,
    settings: { ringTimeoutSeconds: 45, maxDurationSeconds: 3600, record: true, media: null },
    metadata: {},
    externalId: null,
    createdAt: AT,
    notBefore: null,
    startedAt: later(1),
    answeredAt: later(2),
    endedAt: null,
    mediaQuality: null,
    recording: null,
    answeringMachine: null,
    supervision: null,
    disclosures: [],
    nodeId: 'node',
    hangupRequested: false,
    transfer: null,
    campaignId: null,
    contactId: null,
    isTest: false,
    priority: 0,
    ...change,
  };
}
