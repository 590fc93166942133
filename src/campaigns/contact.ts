import { z } from 'zod';

import { milliseconds } from '../base/validation.ts';
import { CALL_END_REASONS } from '../calls/call.ts';
import { MAX_EXTERNAL_ID_CHARACTERS } from '../calls/setup/outboundOrder.ts';

export const CONTACT_STATUSES = ['pending', 'calling', 'waiting', 'done', 'skipped'] as const;
export type ContactStatus = (typeof CONTACT_STATUSES)[number];

/** How the attempt to call a contact ended. */
export const CONTACT_OUTCOMES = [
  'answered',
  'machine',
  'screening',
  'busy',
  'no_answer',
  'declined',
  'invalid_number',
  'failed',
  'canceled',
] as const;
export type ContactOutcome = (typeof CONTACT_OUTCOMES)[number];

/** Why a row of a list was not taken, or a contact is not called. */
export const SKIP_REASONS = [
  'missing_number',
  'invalid_number',
  'duplicate',
  'do_not_call',
  'destination_not_allowed',
  'bad_timezone',
  'invalid_row',
  'removed',
  'campaign_ended',
  'canceled',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const MAX_CONTACTS_AT_ONCE = 10_000;
/** A contact's variables as JSON. Lists show 200 contacts. */
const MAX_VARIABLES_CHARACTERS = 32_768;
const MAX_PRIORITY = 1_000_000;

/** One person of a list, as given. What is wrong in a row skips it, where its type is right. */
export const contactInput = z.strictObject({
  toNumber: z
    .string()
    .max(64)
    .nullish()
    .describe('In E.164, or as it is dialed in the country of the campaign’s first from number.')
    .meta({ example: '0912 345 678' }),
  variables: z
    .record(z.string(), z.unknown())
    .refine(
      (values) => JSON.stringify(values).length <= MAX_VARIABLES_CHARACTERS,
      `{field} must have at most ${MAX_VARIABLES_CHARACTERS} characters as JSON`,
    )
    .nullish(),
  timezone: z
    .string()
    .max(64)
    .nullish()
    .describe('The person’s IANA time zone, where it is not that of the number.')
    .meta({ example: 'Asia/Taipei' }),
  externalId: z.string().min(1).max(MAX_EXTERNAL_ID_CHARACTERS).nullish().describe('Your own id.'),
  notBefore: z.iso.datetime({ offset: true }).nullish().describe('No call before then.'),
  priority: z
    .int()
    .min(-MAX_PRIORITY)
    .max(MAX_PRIORITY)
    .nullish()
    .describe('A higher one goes first; equal ones in the order in which they came. Default 0.'),
});
export type ContactInput = z.output<typeof contactInput>;

const attempt = z.object({
  callId: z.uuid(),
  at: z.iso.datetime(),
  outcome: z.enum(CONTACT_OUTCOMES).nullable().describe('null while the call goes on.'),
  endReason: z.enum(CALL_END_REASONS).nullable(),
  durationMs: milliseconds.nullable().describe('From the answer to the end; 0 when unanswered.'),
});
type Attempt = z.infer<typeof attempt>;

/** A contact in the API. */
export const contactResource = z
  .object({
    id: z.uuid(),
    toNumber: z.string(),
    externalId: z.string().optional(),
    variables: z.record(z.string(), z.unknown()),
    timezone: z.string().optional().describe('Its own, where one was given.'),
    priority: z.int(),
    status: z
      .enum(CONTACT_STATUSES)
      .describe('`waiting` is called again later; `done` and `skipped` are not called any more.'),
    skipReason: z.enum(SKIP_REASONS).optional(),
    attempts: z.array(attempt),
    outcome: z.enum(CONTACT_OUTCOMES).optional().describe('Of the last attempt that has ended.'),
    disposition: z.string().optional().describe('What the analysis of the last attempt’s call says.'),
    success: z.boolean().optional().describe('What the disposition says of it.'),
    nextAttemptAt: z.iso
      .datetime()
      .optional()
      .describe(
        'When it may be called next, as far as can be seen now; absent where it is not called any more, or no hour allows it.',
      ),
  })
  .meta({ id: 'CampaignContact' });
export type ContactResource = z.infer<typeof contactResource>;

/** A contact, as stored. */
export interface Contact {
  readonly id: string;
  readonly campaignId: string;
  readonly projectId: string;
  readonly toNumber: string;
  readonly externalId: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly timezone: string | null;
  /** The zones whose hours hold. */
  readonly zones: readonly string[];
  readonly priority: number;
  readonly status: ContactStatus;
  readonly skipReason: SkipReason | null;
  readonly attempts: readonly Attempt[];
  readonly outcome: ContactOutcome | null;
  /** The call of the attempt in progress. */
  readonly callId: string | null;
  /** Before then it is not called, whatever the hours; null once the time has come. ISO 8601. */
  readonly notBefore: string | null;
}

/** A row of a list that was not taken. */
export const skippedRow = z.object({
  index: z.int().describe('Place in the request, from 0.'),
  code: z.enum(SKIP_REASONS),
  message: z.string(),
});
export type SkippedRow = z.infer<typeof skippedRow>;
