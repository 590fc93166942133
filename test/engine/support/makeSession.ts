import { newSessionState, type Session } from '../../../src/engine/session/session.ts';

/** A new session of a call. */
export function makeSession(change: Partial<Session> = {}): Session {
  return {
    projectId: 'p',
    sessionId: 's',
    instanceId: 'i',
    channel: 'phone',
    provider: null,
    callId: 'c',
    pathwayId: 'w',
    releaseId: 'r',
    release: null,
    turn: 0,
    startedAt: '',
    lastActivityAt: '',
    state: newSessionState({}),
    ...change,
  };
}
