import type { Assertion } from '../../agents/testSuites/assertion.ts';

/** Whether an assertion held, and what was seen. */
export interface Verdict {
  readonly type: Assertion['type'];
  readonly passed: boolean;
  /** The words, value or number that decided it. */
  readonly seen: unknown;
  /** Place in the case's turns. */
  readonly turn?: number;
  /** The position in the recording. */
  readonly atMs?: number;
  readonly reason?: string;
}
