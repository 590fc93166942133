import type { ErrorDetail } from '../../../base/errors.ts';
import type { StructureCode } from '../structure.ts';

export type ProblemCode =
  | StructureCode
  | 'invalid_field'
  | 'unreachable_node'
  | 'no_end_node'
  | 'no_end_reachable'
  | 'dead_end'
  | 'no_default_edge'
  | 'nothing_to_say'
  | 'several_unconditional_edges'
  | 'edge_behind_unconditional'
  | 'duplicate_condition'
  | 'condition_never_true'
  | 'endless_loop'
  | 'loop_without_turn'
  | 'cycle_without_exit'
  | 'unknown_variable';

/** Something about a pathway that its author should know. */
export interface Problem extends ErrorDetail {
  /** An error leaves a caller in silence or in a loop, or cannot be saved at all; the rest are warnings. */
  readonly severity: 'error' | 'warning';
  /** Stable, snake_case; part of the API. */
  readonly code: ProblemCode;
}
