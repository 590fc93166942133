import type { Review, ReviewOptions } from './review/review.ts';
import type { Pathway } from './schema/pathwaySchema.ts';
import type { KnownNames } from './structure.ts';

/**
 * Checks whole pathways apart from the event loop: a large one takes long.
 *
 * @throws {CallwayError} `check_too_slow` when a check exceeds its time, and `project_busy` for a while after that.
 */
export interface PathwayChecker {
  /**
   * Parses a graph of any shape, with its defaults.
   *
   * @throws {CallwayError} 400 with all errors as details when it cannot be saved.
   */
  parsePathway(projectId: string, input: unknown, known: KnownNames): Promise<Pathway>;
  reviewPathway(projectId: string, input: unknown, options: ReviewOptions): Promise<Review>;
}
