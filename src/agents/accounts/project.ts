import { z } from 'zod';

import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { callingHours, NEW_PROJECT_CALLING_HOURS } from './callingHours.ts';
import { callLimits, callLimitsPatch, NEW_PROJECT_CALL_LIMITS } from './callLimits.ts';
import { DEFAULT_QUOTAS, quotas, quotasFrom, quotasPatch } from './quotas.ts';
import {
  DEFAULT_RETENTION_DAYS,
  LONGEST_RETENTION_DAYS,
  type RetentionDaysPatch,
  retentionDays,
  retentionDaysPatch,
} from './retention.ts';
import { reviewRules } from './reviewRules.ts';

export const DEFAULT_SESSION_IDLE_MINUTES = 30;
/** People come back to a chat later than to a phone. */
export const DEFAULT_CHAT_IDLE_MINUTES = 60;
export const LONGEST_SESSION_IDLE_MINUTES = 7 * 24 * 60;

const CALL_LIMITS =
  'Which numbers the project may call, and how much: protects against stolen keys and high bills.';

const RETENTION =
  'For how many days each kind of the project’s data is kept; null keeps it for ever. Default: as long as sessions; tests 30.';

const QUOTAS = 'How much the project may hold: protects the installation’s other projects.';

const fields = {
  name: z.string().min(1).max(128).describe('Display name.').meta({ example: 'Clinic reception' }),
  sessionIdleMinutes: z
    .int()
    .min(1)
    .max(LONGEST_SESSION_IDLE_MINUTES)
    .describe(
      'A live session without activity for this many minutes is ended; chats after `chatIdleMinutes`, unless this was set. The agent’s `sessionIdleMinutes` goes before it.',
    ),
  historyRetentionDays: z
    .int()
    .min(0)
    .max(LONGEST_RETENTION_DAYS)
    .describe('The same as `retentionDays.sessions`.'),
  reportUsage: z.boolean().describe('Report actual token counts in completions instead of -1.'),
};

interface SessionRetention {
  readonly historyRetentionDays?: number | null | undefined;
  readonly retentionDays?: RetentionDaysPatch | undefined;
}

/** `historyRetentionDays` is the older name of `retentionDays.sessions`. @returns Undefined where neither is given. */
export function sessionRetentionOf({
  historyRetentionDays,
  retentionDays,
}: SessionRetention): number | null | undefined {
  return retentionDays?.sessions === undefined ? historyRetentionDays : retentionDays.sessions;
}

const ONE_RETENTION = {
  path: ['historyRetentionDays'],
  message: 'is the same as retentionDays.sessions: send one of them',
};

function saysOneRetention(given: SessionRetention): boolean {
  return given.historyRetentionDays === undefined || sessionRetentionOf(given) === given.historyRetentionDays;
}

export const projectInput = z
  .strictObject({
    name: fields.name,
    sessionIdleMinutes: fields.sessionIdleMinutes.optional().meta({ default: DEFAULT_SESSION_IDLE_MINUTES }),
    historyRetentionDays: fields.historyRetentionDays.optional().meta({ default: DEFAULT_RETENTION_DAYS }),
    retentionDays: retentionDaysPatch.default({}).describe(RETENTION),
    reportUsage: fields.reportUsage.default(false),
    callLimits: callLimitsPatch
      .transform((given) => ({ ...NEW_PROJECT_CALL_LIMITS, ...omitUndefined(given) }))
      .default(NEW_PROJECT_CALL_LIMITS)
      .describe(CALL_LIMITS),
    quotas: quotasPatch.transform(quotasFrom).default(DEFAULT_QUOTAS).describe(QUOTAS),
    callingHours: callingHours.nullable().default(NEW_PROJECT_CALLING_HOURS),
    reviewRules: reviewRules.default([]),
  })
  .refine(saysOneRetention, ONE_RETENTION);

export const projectPatch = z
  .strictObject({
    ...fields,
    retentionDays: retentionDaysPatch.describe(`${RETENTION} Only the supplied fields change.`),
    callLimits: callLimitsPatch.describe(`${CALL_LIMITS} Only the supplied limits change.`),
    quotas: quotasPatch.describe(`${QUOTAS} Only the supplied quotas change.`),
    callingHours: callingHours.nullable(),
    reviewRules,
  })
  .partial()
  .refine(saysOneRetention, ONE_RETENTION);

export const project = z.object({
  id: z.uuid(),
  ...fields,
  chatIdleMinutes: z
    .int()
    .describe(
      `A chat without activity for this many minutes is ended: \`sessionIdleMinutes\` once it was set, else ${DEFAULT_CHAT_IDLE_MINUTES}. Read-only.`,
    ),
  historyRetentionDays: fields.historyRetentionDays.nullable(),
  retentionDays: retentionDays.describe(RETENTION),
  callLimits: callLimits.describe(CALL_LIMITS),
  quotas: quotas.describe(QUOTAS),
  callingHours: callingHours.nullable(),
  reviewRules,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export type ProjectPatch = z.infer<typeof projectPatch>;
export type Project = z.infer<typeof project>;
