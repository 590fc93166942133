import { z } from 'zod';

import { type CallingHours, type CallingWindow, callingWindows } from '../agents/accounts/callingHours.ts';
import { timezone } from '../agents/fields.ts';
import { invalid } from '../base/errors.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import { CONTACT_OUTCOMES, type ContactOutcome, type ContactStatus } from './contact.ts';

const CAMPAIGN_STATUSES = ['draft', 'running', 'paused', 'completed', 'canceled'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

/** The outcomes after which a contact may be called again. */
const RETRIED_OUTCOMES = ['busy', 'no_answer', 'machine', 'screening', 'failed'] as const;

const MAX_FROM_NUMBERS = 1_000;
const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_CONCURRENT = 200;
const MAX_CALLS_PER_MINUTE = 600;
const MAX_ATTEMPTS = 20;
/** 30 days. */
const MAX_RETRY_MINUTES = 43_200;
const MAX_JUDGED = 1_000;
/** Variables and metadata of a campaign, each as JSON. Lists show 200 campaigns. */
const MAX_GIVEN_CHARACTERS = 16_384;

const DEFAULT_PACING = { maxConcurrent: 5, callsPerMinute: 30 };
/** In minutes: a busy line is soon free; where a machine answers, the person is out for hours. */
const DEFAULT_RULES: readonly RetryRule[] = [
  { outcomes: ['busy'], afterMinutes: 15 },
  { outcomes: ['no_answer'], afterMinutes: 120 },
  { outcomes: ['machine'], afterMinutes: 240 },
  { outcomes: ['failed'], afterMinutes: 60 },
];
const DEFAULT_RETRY = { maxAttempts: 3, rules: [...DEFAULT_RULES] };
const DEFAULT_PAUSE = { failedPercent: 80, ofLast: 50 };
const DEFAULT_SCHEDULE = { startAt: null, endAt: null, timezone: 'callee', windows: null };

const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .nullable();
const givenValues = z
  .record(z.string(), z.unknown())
  .refine(
    (values) => JSON.stringify(values).length <= MAX_GIVEN_CHARACTERS,
    `{field} must have at most ${MAX_GIVEN_CHARACTERS} characters as JSON`,
  );

const schedule = {
  startAt: time.describe('No call before then.').meta({ example: '2026-12-01T08:00:00Z' }),
  endAt: time.describe(
    'No call from then on: contacts that are left are skipped, and the campaign is completed.',
  ),
  timezone: z
    .union([z.literal('callee'), timezone])
    .describe('Whose clocks the windows mean: `callee` is each contact’s own, or an IANA name.')
    .meta({ example: 'callee' }),
  windows: callingWindows
    .nullable()
    .describe(
      'Calls are placed within them alone. null follows the project’s `callingHours`, by the clocks of `timezone` where that is a zone.',
    ),
};
const pacing = {
  maxConcurrent: z.int().min(1).max(MAX_CONCURRENT).describe('Contacts that are being called at once.'),
  callsPerMinute: z.int().min(1).max(MAX_CALLS_PER_MINUTE),
};
const retryRule = z.strictObject({
  outcomes: z.array(z.enum(RETRIED_OUTCOMES)).min(1),
  afterMinutes: z.int().min(0).max(MAX_RETRY_MINUTES),
});
type RetryRule = z.infer<typeof retryRule>;
const retry = {
  maxAttempts: z.int().min(1).max(MAX_ATTEMPTS).describe('The most calls to a contact.'),
  rules: z
    .array(retryRule)
    .max(20)
    .describe(
      'When a contact is called again; the first rule with the outcome counts. Without one it is done.',
    ),
};
const pauseWhen = {
  failedPercent: z.number().min(1).max(100),
  ofLast: z.int().min(1).max(MAX_JUDGED).describe('Attempts since the last start or resume.'),
};

const fields = {
  name: z.string().min(1).max(128).meta({ example: 'Renewals, December' }),
  description: z.string().max(MAX_DESCRIPTION_CHARACTERS).nullable(),
  fromNumbers: z
    .array(z.string().max(64))
    .max(MAX_FROM_NUMBERS)
    .describe(
      'Numbers of the project. National numbers of contacts are read in the country of the first one.',
    )
    .meta({ example: ['+886223456789'] }),
  callerId: z
    .enum(['fixed', 'rotate', 'local'])
    .describe(
      'Which of them calls: the first, each in turn, or the one that shares the longest prefix with the contact’s number.',
    ),
  variables: givenValues.describe('Variables of every call; a contact’s own go before them.'),
  metadata: givenValues.describe('Metadata of every call.'),
  keepOpen: z.boolean().describe('Goes on running without contacts, so that more can be added.'),
};
const SCHEDULE = 'When its contacts are called.';
const PAUSE = `Pauses the campaign when this share of its last attempts has failed, from ${10} attempts on; null never does.`;

export const campaignInput = z.strictObject({
  name: fields.name,
  description: fields.description.optional(),
  fromNumbers: fields.fromNumbers.default([]),
  callerId: fields.callerId.default('fixed'),
  schedule: z.strictObject(schedule).partial().default({}).describe(SCHEDULE),
  pacing: z.strictObject(pacing).partial().default({}),
  retry: z.strictObject(retry).partial().default({}),
  variables: fields.variables.default({}),
  metadata: fields.metadata.default({}),
  pauseWhen: z.strictObject(pauseWhen).partial().nullable().default({}).describe(PAUSE),
  keepOpen: fields.keepOpen.default(false),
});

export const campaignPatch = z
  .strictObject({
    ...fields,
    schedule: z.strictObject(schedule).partial().describe(SCHEDULE),
    pacing: z.strictObject(pacing).partial(),
    retry: z.strictObject(retry).partial(),
    pauseWhen: z.strictObject(pauseWhen).partial().nullable().describe(PAUSE),
  })
  .partial();

/** The settings of a campaign, as stored. */
export interface CampaignSettings {
  readonly fromNumbers: readonly string[];
  readonly callerId: 'fixed' | 'rotate' | 'local';
  readonly schedule: {
    readonly startAt: string | null;
    readonly endAt: string | null;
    readonly timezone: string;
    readonly windows: readonly CallingWindow[] | null;
  };
  readonly pacing: { readonly maxConcurrent: number; readonly callsPerMinute: number };
  readonly retry: { readonly maxAttempts: number; readonly rules: readonly RetryRule[] };
  readonly variables: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly pauseWhen: { readonly failedPercent: number; readonly ofLast: number } | null;
  readonly keepOpen: boolean;
}

/** A campaign, as stored. Times are ISO 8601 in UTC. */
export interface Campaign extends CampaignSettings {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: CampaignStatus;
  /** The reason of a status that no request has set. */
  readonly statusReason: string | null;
  /** The hours of its project, as they are now. */
  readonly callingHours: CallingHours | null;
  /** The number of contacts by status. @see shownCampaign */
  readonly counts: Readonly<Record<ContactStatus, number>>;
  /** The number of contacts by the outcome of their last attempt that has ended. */
  readonly outcomes: Readonly<Record<ContactOutcome, number>>;
  /** How many calls were placed. */
  readonly placed: number;
  /** When the pacing allows the next call; null before the first. */
  readonly pacedAt: string | null;
  /** One character for each of the last attempts that ended since the start or resume; `f` is a failed one. */
  readonly recentOutcomes: string;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

const count = z.int().min(0);
const countByOutcome = Object.fromEntries(CONTACT_OUTCOMES.map((outcome) => [outcome, count])) as Record<
  ContactOutcome,
  typeof count
>;

/** A campaign in the API. */
export const campaignResource = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().optional(),
    status: z.enum(CAMPAIGN_STATUSES),
    statusReason: z
      .string()
      .optional()
      .describe(
        '`ended` when `endAt` has come, `too_many_failed` when it has paused itself by `pauseWhen`, `no_from_number` when none of its numbers may call any more.',
      ),
    fromNumbers: z.array(z.string()),
    callerId: fields.callerId,
    schedule: z.object({
      startAt: z.iso.datetime().optional(),
      endAt: z.iso.datetime().optional(),
      timezone: schedule.timezone,
      windows: z
        .array(callingWindows.element)
        .describe('Its own, else those of the project’s `callingHours`; none when any hour is open.'),
    }),
    pacing: z.object(pacing),
    retry: z.object(retry),
    variables: z.record(z.string(), z.unknown()),
    metadata: z.record(z.string(), z.unknown()),
    pauseWhen: z.object(pauseWhen).nullable(),
    keepOpen: z.boolean(),
    counts: z
      .object({ total: count, pending: count, calling: count, waiting: count, done: count, skipped: count })
      .describe('Contacts by status.'),
    outcomes: z
      .object(countByOutcome)
      .describe('Contacts by the outcome of their last attempt that has ended.'),
    cost: z
      .object({
        total: z.number(),
        currency: z.string(),
        others: z
          .array(z.object({ total: z.number(), currency: z.string() }))
          .optional()
          .describe('The sums in other currencies, where the rates have changed theirs.'),
      })
      .optional()
      .describe(
        'What its calls have cost so far, at most 60 s late, by the sums of the insights: retention and erasure change none. The currency is that of most calls. Only in the answer to GET of one campaign; absent where no call has a cost.',
      ),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().optional(),
    endedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Campaign' });

export type CampaignResource = z.infer<typeof campaignResource>;

/** @throws {CallwayError} 400 where `endAt` is not after `startAt`. */
export function settingsFrom(input: z.output<typeof campaignInput>): CampaignSettings {
  const { name: _name, description: _description, pauseWhen: pause, ...given } = input;
  return checked({
    ...given,
    schedule: { ...DEFAULT_SCHEDULE, ...omitUndefined(given.schedule) },
    pacing: { ...DEFAULT_PACING, ...omitUndefined(given.pacing) },
    retry: { ...DEFAULT_RETRY, ...omitUndefined(given.retry) },
    pauseWhen: pause && { ...DEFAULT_PAUSE, ...omitUndefined(pause) },
  });
}

/**
 * Changes the supplied settings; those of `schedule`, `pacing`, `retry` and `pauseWhen` field by field.
 *
 * @throws {CallwayError} 400 where `endAt` is not after `startAt`.
 */
export function patchSettings(
  settings: CampaignSettings,
  patch: z.output<typeof campaignPatch>,
): CampaignSettings {
  const { name: _name, description: _description, pauseWhen: pause, ...given } = patch;
  return checked({
    ...settings,
    ...omitUndefined(given),
    schedule: { ...settings.schedule, ...omitUndefined(given.schedule ?? {}) },
    pacing: { ...settings.pacing, ...omitUndefined(given.pacing ?? {}) },
    retry: { ...settings.retry, ...omitUndefined(given.retry ?? {}) },
    pauseWhen:
      pause === undefined
        ? settings.pauseWhen
        : pause && { ...(settings.pauseWhen ?? DEFAULT_PAUSE), ...omitUndefined(pause) },
  });
}

function checked(settings: CampaignSettings): CampaignSettings {
  const { startAt, endAt } = settings.schedule;
  if (endAt === null || startAt === null || startAt < endAt) return settings;
  const message = 'endAt must be later than startAt';
  throw invalid('invalid_request', message, [{ path: '/schedule/endAt', message }]);
}

/** Returns true when the campaign calls no more contacts. */
export function isOver({ status }: { readonly status: CampaignStatus }): boolean {
  return status === 'completed' || status === 'canceled';
}
