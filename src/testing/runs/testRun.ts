import { z } from 'zod';
import { executionMode } from '../../agents/agentConfig.ts';
import { anyJson } from '../../agents/testSuites/assertion.ts';
import { milliseconds } from '../../base/validation.ts';
import { releaseName } from '../../base/values/releaseName.ts';
import { REHEARSAL_OUTCOMES, type RehearsalOutcome } from '../rehearsal/callee.ts';

const MAX_REPEAT = 20;
const MAX_MODEL_CHARACTERS = 200;
const DEFAULT_CONCURRENCY = 4;
export const MAX_CONCURRENCY = 20;

export const runInput = z.strictObject({
  repeat: z.int().min(1).max(MAX_REPEAT).default(1).describe('How often each case is played.'),
  concurrency: z.int().min(1).max(MAX_CONCURRENCY).default(DEFAULT_CONCURRENCY),
  version: z.enum(['live', 'draft']).default('live'),
  release: z.int().min(1).optional().describe('The release to test, in place of `version`.'),
  channel: z
    .enum(['chat', 'phone'])
    .optional()
    .describe('Plays all cases over this one. Default: each over its own.'),
  mode: executionMode.optional().describe('Execution mode in place of the agent’s.'),
  model: z
    .string()
    .min(1)
    .max(MAX_MODEL_CHARACTERS)
    .optional()
    .describe('Chat model in place of the agent’s and its nodes’, on the agent’s endpoint.'),
  baselineRunId: z.string().min(1).max(128).optional().describe('The run to compare with.'),
  seed: z
    .int()
    .min(0)
    .max(0xffff_ffff)
    .optional()
    .describe('Of everything random: the same seed gives the same caller. Default: a random one.'),
});

const playStatus = z.enum(['queued', 'running', 'passed', 'failed', 'error', 'canceled']);
export const runStatus = z.enum(['queued', 'running', 'passed', 'failed', 'canceled', 'error']);
const caseStatus = z.enum([...playStatus.options, 'flaky']);

const verdict = z.object({
  type: z.string(),
  passed: z.boolean(),
  seen: anyJson.describe('The words, value or number that decided it.'),
  turn: z.int().optional().describe('Place in the case’s turns.'),
  atMs: milliseconds.optional().describe('In the recording.'),
  reason: z.string().optional(),
});

const replayedTurn = z.object({
  turn: z.int(),
  said: z.string(),
  before: z.string().describe('The agent’s answer in the session.'),
  after: z.string().describe('The agent’s answer in this run.'),
});

const play = z.object({
  index: z.int(),
  seed: z.int(),
  status: playStatus,
  sessionId: z.string().optional(),
  recordingUrl: z
    .string()
    .optional()
    .describe('Of a call: a WAV file, for an hour without a key. A new URL each time.'),
  error: z.string().optional().describe('Why it could not be played.'),
  assertions: z.array(verdict),
  replay: z.array(replayedTurn).optional().describe('Of a replayed session.'),
});

const playedCase = z.object({
  testCaseId: z.string().nullable().optional().describe('Null for a replayed session; absent for a contact.'),
  contactId: z.uuid().optional().describe('Of a rehearsal: the campaign’s contact, in place of a case.'),
  outcome: z
    .enum(REHEARSAL_OUTCOMES)
    .optional()
    .describe(
      'Of a rehearsal: what the call came to, once it has ended; `opt_out` where the agent has understood it.',
    ),
  name: z.string(),
  status: caseStatus,
  passed: z.int(),
  failed: z.int(),
  passRate: z
    .object({ value: z.number(), low: z.number(), high: z.number() })
    .nullable()
    .describe('0 to 1, with the Wilson score interval of 95 %; null before the first play.'),
  latencyMs: z.object({ p50: milliseconds.nullable(), p95: milliseconds.nullable() }),
  runs: z.array(play),
});

const contactCount = z.int().min(0);
const countByOutcome = Object.fromEntries(
  REHEARSAL_OUTCOMES.map((outcome) => [outcome, contactCount]),
) as Record<RehearsalOutcome, typeof contactCount>;

const summary = z.object({ passed: z.int(), failed: z.int(), flaky: z.int(), errors: z.int() });

const runFields = {
  id: z.uuid(),
  projectId: z.uuid(),
  testSuiteId: z.uuid().nullable(),
  name: z.string(),
  status: runStatus,
  version: runInput.shape.version.unwrap(),
  release: releaseName.describe('The release that was tested; `draft` for the working copy.'),
  mode: runInput.shape.mode.unwrap().nullable().describe('Null for the agent’s.'),
  model: z.string().nullable().describe('Null for the agent’s and its nodes’.'),
  repeat: z.int(),
  concurrency: z.int(),
  seed: z.int(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  summary: summary.describe('Counts of cases.'),
};

export const listedRun = z.object(runFields).meta({ id: 'ListedTestRun' });

export const testRun = z
  .object({
    ...runFields,
    comparison: z
      .object({
        newlyFailing: z.array(z.string()),
        newlyPassing: z.array(z.string()),
        slower: z.array(z.string()).describe('By more than a fifth and 50 ms in the 95th percentile.'),
      })
      .optional()
      .describe('With the baseline, by ids of test cases; once both have ended.'),
    outcomes: z
      .object(countByOutcome)
      .optional()
      .describe('Of a rehearsal: the contacts whose calls have ended, by outcome.'),
    cases: z.array(playedCase),
  })
  .meta({ id: 'TestRun' });

export type RunInput = z.output<typeof runInput>;
export type PlayStatus = z.infer<typeof playStatus>;
export type RunStatus = z.infer<typeof runStatus>;
export type CaseStatus = z.infer<typeof caseStatus>;
export type Summary = z.infer<typeof summary>;
export type ListedRun = z.infer<typeof listedRun>;
export type TestRun = z.infer<typeof testRun>;
export type PlayedCase = TestRun['cases'][number];
export type Play = PlayedCase['runs'][number];
export type ReplayedTurn = z.infer<typeof replayedTurn>;
