import type { CallFacts } from '../session/session.ts';

/** A call back to the person of a phone session. */
export interface CallbackRequest {
  readonly projectId: string;
  readonly sessionId: string;
  /** The call of the session that orders it. */
  readonly call: CallFacts;
  readonly variables: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly notBefore: string;
  readonly reason: string | null;
}

/**
 * @returns The time of the call, ISO 8601: a later one than was asked for where the project's calling hours want it.
 * @throws {CallwayError} When the call cannot be scheduled.
 */
export type ScheduleCallback = (request: CallbackRequest) => Promise<string>;

/** A person on the phone who wants no more calls. */
export interface OptOut {
  readonly projectId: string;
  /** In E.164. */
  readonly number: string;
  readonly callId: string;
  readonly source: 'spoken' | 'dtmf' | 'tool';
  /** What the person said, or what the model says of it. */
  readonly reason: string | undefined;
}

/** Puts the number on the project's do-not-call list. */
export type AddOptOut = (optOut: OptOut) => Promise<void>;
