import type { SessionTest } from './session.ts';

/** What the service does for a session beside its conversation. */
export interface SessionPolicy {
  readonly publishesEvents: boolean;
  readonly sendsWebhooks: boolean;
  /** Counts in the project's usage and quotas. */
  readonly countsUsage: boolean;
  /** Starts with what is remembered of the customer. */
  readonly remembersCustomer: boolean;
  /** What answers in place of tools and of `beforeStartConfig`, and the release; undefined for the project's own. */
  readonly standIns: SessionTest | undefined;
}

const REAL: SessionPolicy = {
  publishesEvents: true,
  sendsWebhooks: true,
  countsUsage: true,
  remembersCustomer: true,
  standIns: undefined,
};

const TEST: Omit<SessionPolicy, 'standIns'> = {
  publishesEvents: false,
  sendsWebhooks: false,
  countsUsage: false,
  remembersCustomer: false,
};

/** Chooses the policy of a session that begins, or of its stored state. */
export function sessionPolicy({ test }: { readonly test?: SessionTest }): SessionPolicy {
  return test ? { ...TEST, standIns: test } : REAL;
}
