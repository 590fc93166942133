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
  | 'returns_without_global_edge'
  | 'several_unconditional_edges'
  | 'edge_behind_unconditional'
  | 'duplicate_condition'
  | 'condition_never_true'
  | 'endless_loop'
  | 'loop_without_turn'
  | 'cycle_without_exit'
  | 'event_never_raised'
  | 'silence_behind_shorter'
  | 'must_hear_line_cut'
  | 'transfer_without_failure_edge'
  | 'transfer_option_unused'
  | 'transfer_target_forbidden'
  | 'wrong_arguments'
  | 'vanished_tool'
  | 'unknown_variable'
  | 'required_variable_not_asked'
  | 'provider_without_credentials'
  | 'wrong_option'
  | 'keyterms_ignored'
  | 'voice_missing'
  | 'language_not_told'
  | 'language_not_heard';

/** A finding of a pathway review. */
export interface Problem extends ErrorDetail {
  /** `error` when the pathway cannot be saved, names what no longer exists, or would leave a caller in silence or in a loop. */
  readonly severity: 'error' | 'warning';
  /** Stable, snake_case; part of the API. */
  readonly code: ProblemCode;
  /** The node or the edge that it is about, where it is about one. */
  readonly nodeId?: string;
  readonly edgeId?: string;
}
