declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped; printed above the totals of the run. */
    skipReason?: string;
  }
}

/** Options of a test or suite. */
export interface Requirement {
  readonly skip: boolean;
  readonly meta: { readonly skipReason?: string };
}

/** Options of tests that run only when the condition holds. */
export function requires(condition: boolean, skipReason: string): Requirement {
  return condition ? { skip: false, meta: {} } : { skip: true, meta: { skipReason } };
}

/** For tests against SIPp, Kamailio and baresip. */
export const requiresSipPeers = requires(
  !process.env.TEST_WITHOUT_SIP_PEERS,
  'TEST_WITHOUT_SIP_PEERS is set',
);
