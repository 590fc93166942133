import { z } from 'zod';

import { isInShare } from '../../base/values/inShare.ts';
import type { Page, PageOf } from '../../base/values/page.ts';

const MAX_GUARDS = 10;
/** Sessions of the new release after which it counts as good, unless the rollout says. */
const DEFAULT_DECIDE_AFTER = 500;

export const ROLLOUT_METRICS = [
  'success',
  'evaluation',
  'answered',
  'duration',
  'latencyP95',
  'toolFailures',
  'interruptions',
  'transfers',
  'cost',
  'error',
] as const;
export type RolloutMetric = (typeof ROLLOUT_METRICS)[number];

const limit = z.number().min(0).max(1e9);
const guard = z
  .strictObject({
    metric: z.enum(ROLLOUT_METRICS),
    maxDrop: limit
      .optional()
      .describe(
        'By how much it may be worse than with the old release, in the metric’s unit: 0.1 is ten points of a share. Worse is more, except for `success`, `evaluation` and `answered`.',
      ),
    max: limit.optional().describe('The most that it may be with the new release.'),
  })
  .refine(({ maxDrop, max }) => (maxDrop === undefined) !== (max === undefined), {
    message: 'A guard has either maxDrop or max',
  });
export type Guard = z.infer<typeof guard>;

export const percent = z.int().min(1).max(99).describe('The share of people who get the new release.');

export const rolloutInput = z
  .strictObject({
    release: z.int().min(1).describe('The new release, such as one that was kept with `live: false`.'),
    percent,
    guards: z.array(guard).max(MAX_GUARDS).default([]).describe('What must not become worse.'),
    decideAfter: z
      .strictObject({ sessions: z.int().min(1).max(1_000_000) })
      .default({ sessions: DEFAULT_DECIDE_AFTER })
      .describe('Ended sessions with the new release after which it is good, where no guard has fired.'),
    onBad: z.enum(['rollback', 'alert']).default('rollback').describe('What follows when a guard fires.'),
    onGood: z.enum(['promote', 'alert']).default('alert').describe('What follows when it is good.'),
  })
  .meta({ id: 'NewRollout' });
export type RolloutInput = z.output<typeof rolloutInput>;

const armFigure = z.object({
  value: z.number().nullable().describe('Null before there is enough.'),
  low: z.number().nullable(),
  high: z.number().nullable().describe('An interval of 95 % that holds at every look.'),
  n: z.int().describe('Sessions that it is from.'),
});

const guardFigures = z.object({
  metric: z.enum(ROLLOUT_METRICS),
  maxDrop: z.number().optional(),
  max: z.number().optional(),
  old: armFigure,
  new: armFigure,
});

const decision = z
  .object({
    at: z.iso.datetime(),
    reason: z
      .enum(['guard', 'enough_sessions', 'requested', 'agent_changed'])
      .describe(
        '`guard`: a guard fired. `enough_sessions`: none did within `decideAfter`. `requested`: by the API. `agent_changed`: by an edit or a publication.',
      ),
    figures: z.array(guardFigures).describe('Of the guards that fired; else of all.'),
  })
  .meta({ id: 'RolloutDecision' });
export type RolloutDecision = z.infer<typeof decision>;
export type ArmFigure = z.infer<typeof armFigure>;
export type GuardFigures = z.infer<typeof guardFigures>;

export const arm = z.object({
  release: z.int(),
  sessions: z.int().describe('Ended since the rollout began.'),
  metrics: z.record(z.enum(ROLLOUT_METRICS), armFigure),
});
export type Arm = z.infer<typeof arm>;

const rolloutStatus = z.enum(['running', 'promoted', 'rolled_back', 'ended']);

/** A rollout without its arms. */
export const rolloutFields = z.object({
  ...rolloutInput.shape,
  id: z.uuid(),
  previousRelease: z.int().describe('The release of the others.'),
  status: rolloutStatus,
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  decision: decision.nullable().describe('Null until there is one. With `alert` the rollout still runs.'),
});
export type Rollout = z.output<typeof rolloutFields> & { readonly projectId: string };
export type FinalRolloutStatus = Exclude<Rollout['status'], 'running'>;

/** The rollouts of projects; one of a project runs at a time. */
export interface RolloutStore {
  /** @throws {CallwayError} 409 `rollout_running` */
  insert(rollout: Rollout): Promise<void>;
  find(projectId: string, id: string): Promise<Rollout | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Rollout>>;
  running(projectId: string): Promise<Rollout | undefined>;
  /** @returns The rollout; undefined when it does not run. */
  setPercent(projectId: string, id: string, percent: number): Promise<Rollout | undefined>;
  /** Notes a decision of a rollout that goes on. */
  noteDecision(id: string, decision: RolloutDecision): Promise<void>;
  /** Ends a running one. @returns Whether this call has ended it. */
  finish(id: string, status: FinalRolloutStatus, decision: RolloutDecision): Promise<boolean>;
  /** The rollout with what was told of it: the last kind of event; null before any. */
  findWork(id: string): Promise<{ rollout: Rollout; told: string | null } | undefined>;
  noteTold(id: string, told: string): Promise<void>;
}

/** Whether a person gets the new release. A raised percentage moves only people who had the old one. */
export function isChosen({ id, percent: share }: Rollout, person: string): boolean {
  return isInShare(`${id} ${person}`, share);
}
