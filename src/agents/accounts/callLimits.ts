import { z } from 'zod';

const MOST_PREFIXES = 1000;
const MOST_CALLS = 1_000_000;
const MINUTES_OF_A_THOUSAND_LINES = 1000 * 24 * 60;
const HIGHEST_RATE = 10_000;
const MOST_SPENDING = 1_000_000_000;

/** `+` alone stands for all numbers. @see ITU-T E.164 section 6 */
const PREFIX = /^\+([1-9]\d{0,14})?$/;

const prefix = z.string().regex(PREFIX, 'must begin like a number in E.164, as +886 does; + is all numbers');
const prefixes = z.array(prefix).max(MOST_PREFIXES);
const rate = z.strictObject({
  prefix,
  perMinute: z.number().min(0).max(HIGHEST_RATE),
});
const limit = (most: number) => z.int().min(1).max(most).nullable();

const fields = {
  allowedPrefixes: prefixes
    .describe('Where any is given, only numbers that begin so may be called.')
    .meta({ example: ['+886'] }),
  blockedPrefixes: prefixes
    .describe(
      'Numbers that begin so may not be called. Of all prefixes that fit a number the longest counts.',
    )
    .meta({ example: ['+8862031'] }),
  maxConcurrentCalls: limit(MOST_CALLS).describe(
    'Calls of both directions at a time: beyond it outbound calls wait in the queue, and callers get 503.',
  ),
  maxCallsPerMinute: limit(MOST_CALLS).describe('Outbound calls accepted in a clock minute.'),
  maxCallsPerHour: limit(MOST_CALLS).describe('Outbound calls accepted in a clock hour.'),
  maxCallMinutesPerDay: limit(MINUTES_OF_A_THOUSAND_LINES).describe(
    'Minutes that outbound calls talk in a day of UTC, all together; those that talk when it is reached are hung up. A caller who is joined with somebody by a second leg talks on an outbound call too.',
  ),
  rates: z
    .array(rate)
    .max(MOST_PREFIXES)
    .describe(
      'What a minute of an outbound call costs, in money of your choice. Of all prefixes that fit a number the longest counts; a number that none fits costs nothing.',
    )
    .meta({ example: [{ prefix: '+886', perMinute: 0.04 }] }),
  maxSpendingPerDay: z
    .number()
    .positive()
    .max(MOST_SPENDING)
    .nullable()
    .describe(
      'What outbound calls may cost in a day of UTC by `rates`, all together; those that talk when it is reached are hung up.',
    ),
};

/** What a project may call, and how much; null is no limit. */
export const callLimits = z.strictObject(fields).meta({ id: 'CallLimits' });
export const callLimitsPatch = z.strictObject(fields).partial();

export type CallLimits = z.infer<typeof callLimits>;
export type CallLimitsPatch = z.infer<typeof callLimitsPatch>;

export const NO_CALL_LIMITS: CallLimits = {
  allowedPrefixes: [],
  blockedPrefixes: [],
  maxConcurrentCalls: null,
  maxCallsPerMinute: null,
  maxCallsPerHour: null,
  maxCallMinutesPerDay: null,
  rates: [],
  maxSpendingPerDay: null,
};
