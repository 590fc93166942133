import type { Review, ReviewOptions } from '../../agents/pathway/review/review.ts';
import type { KnownNames } from '../../agents/pathway/structure.ts';
import type { ErrorDetail } from '../../base/errors.ts';

/** A job of a thread. Schemas, arguments and graphs are JSON texts, which are faster to transfer. */
export type CheckJob =
  | { readonly type: 'schema'; readonly schema: string }
  | { readonly type: 'arguments'; readonly schema: string; readonly args: string }
  | { readonly type: 'pattern'; readonly pattern: string; readonly text: string }
  | { readonly type: 'pathway'; readonly graph: string; readonly known: KnownNames }
  | { readonly type: 'review'; readonly graph: string; readonly options: ReviewOptions };

export interface CheckAnswer {
  /** The problem; undefined when there is none. */
  readonly problem?: string;
  /** True when the pattern matches. */
  readonly found?: boolean;
  /** A pathway with its defaults, as JSON. */
  readonly graph?: string;
  /** The reason for which a pathway cannot be saved. */
  readonly refusal?: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly ErrorDetail[];
  };
  readonly review?: Review;
}
