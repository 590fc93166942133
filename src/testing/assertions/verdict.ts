import type { Assertion } from '../../agents/testSuites/assertion.ts';
import type { Remark } from './remark.ts';

/** Whether an assertion held, and what was seen. */
export interface Verdict {
  /** `outcome`: what a contact's call came to. */
  readonly type: Assertion['type'] | 'outcome';
  readonly passed: boolean;
  /** The words, value or number that decided it; of a judge, its votes as a {@link Remark}. */
  readonly seen: unknown;
  /** Place in the case's turns. */
  readonly turn?: number;
  /** The position in the recording. */
  readonly atMs?: number;
  readonly reason?: Remark;
}
