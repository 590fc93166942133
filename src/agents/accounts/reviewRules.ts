import { z } from 'zod';

export const reviewReason = z.enum([
  'failed_criterion',
  'no_disposition',
  'not_understood',
  'long_silence',
  'interrupted_often',
  'random',
]);
export type ReviewReason = z.infer<typeof reviewReason>;

/** The silence after which an agent asks again unless its node says otherwise. */
export const LONG_SILENCE_MS = 8_000;
/** Once or twice happens in any conversation. */
export const OFTEN_INTERRUPTED = 3;

const reviewRule = z.strictObject({
  when: reviewReason.describe(
    `\`failed_criterion\`: the evaluation did not pass a criterion; scores do not count. \`no_disposition\`: the analysis is done and chose none, or has failed. \`not_understood\`: the agent did not understand the caller at least once. \`long_silence\`: no one spoke on the phone for ${LONG_SILENCE_MS / 1000} s or longer before a transfer. \`interrupted_often\`: the agent was interrupted ${OFTEN_INTERRUPTED} times or more. \`random\`: any session.`,
  ),
  percent: z
    .number()
    .gt(0)
    .max(100)
    .optional()
    .meta({ default: 100 })
    .describe('The share of these sessions that is queued, chosen by the session.'),
});
export type ReviewRule = z.infer<typeof reviewRule>;

export const reviewRules = z
  .array(reviewRule)
  .max(reviewReason.options.length)
  .refine(
    (rules) => new Set(rules.map(({ when }) => when)).size === rules.length,
    '{field} must have one rule at most for each `when`',
  )
  .describe(
    'Which sessions are queued for a person’s review. A rule holds for sessions that end after it was set; what it has queued stays.',
  );
