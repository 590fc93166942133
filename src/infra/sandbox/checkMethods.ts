import type { Review, ReviewOptions } from '../../agents/pathway/review/review.ts';
import type { KnownNames } from '../../agents/pathway/structure.ts';

/** What a thread of the sandbox does. Schemas, arguments and graphs are JSON texts, which are faster to transfer. */
export interface CheckMethods {
  /** @returns The problem; undefined when there is none. */
  checkSchema(schema: string): string | undefined;
  checkArguments(schema: string, args: string): string | undefined;
  checkPattern(pattern: string): string | undefined;
  /** @returns False also for a pattern that is refused. */
  findPattern(pattern: string, text: string): boolean;
  /** @returns The pathway with its defaults. @throws {CallwayError} The reason for which it cannot be saved. */
  parsePathway(graph: string, known: KnownNames): string;
  /** @throws {CallwayError} 400 `invalid_request` when it is nothing that can be reviewed. */
  reviewPathway(graph: string, options: ReviewOptions): Review;
}
