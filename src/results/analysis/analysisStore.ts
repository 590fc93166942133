import { z } from 'zod';

import type { SessionFilter } from '../../engine/history/sessionFilter.ts';
import type { SessionResults } from '../../engine/history/sessionResults.ts';

/** Sessions that one job may have. */
export const MAX_JOB_SESSIONS = 100_000;

/** Selects ended sessions, without those of tests. */
export interface EndedSessions extends SessionFilter {
  /** The sessions that started at this time or later, and before `to`. ISO 8601. */
  readonly from: string;
  readonly to: string;
}

/** A job in the API. */
export const analysisJob = z
  .object({
    id: z.uuid(),
    status: z.enum(['running', 'done']),
    done: z.int().describe('Sessions that were analyzed, or removed meanwhile.'),
    total: z.int(),
    failed: z.int().describe('Of those done: an analysis that was there before was kept.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'AnalysisJob' });
export type AnalysisJob = z.infer<typeof analysisJob>;

/** Analyses that are made anew: jobs, of which each session is a piece of work. */
export interface AnalysisStore {
  /** Finds the instance of the newest session with this id. */
  newest(projectId: string, sessionId: string): Promise<string | undefined>;
  /** Stores the results of an ended session. */
  save(instanceId: string, results: SessionResults): Promise<void>;
  /**
   * Stores a job whose sessions are due at once.
   *
   * @returns How many these are: at most one more than a job may have.
   */
  insertJob(
    job: { readonly id: string; readonly projectId: string; readonly createdAt: string },
    chosen: EndedSessions,
  ): Promise<number>;
  findJob(projectId: string, id: string): Promise<AnalysisJob | undefined>;
  /** Finds the session of a piece of work; undefined when it is done. */
  instanceOf(workId: string): Promise<string | undefined>;
  /** Stores the results and removes the piece of work in one step; changes nothing when it is done. */
  settle(workId: string, results: SessionResults): Promise<void>;
}
