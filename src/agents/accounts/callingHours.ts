import { z } from 'zod';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const MOST_WINDOWS = 100;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const END = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

/** The week in which calls may be placed. */
export const callingWindows = z
  .array(
    z
      .strictObject({
        days: z.array(z.enum(WEEKDAYS)).min(1).max(WEEKDAYS.length),
        from: z.string().regex(TIME, 'must be a time of day such as 09:00'),
        to: z.string().regex(END, 'must be a time of day such as 17:30, at most 24:00'),
      })
      .refine(({ from, to }) => to > from, {
        path: ['to'],
        message: 'must be later than from; hours over midnight are two windows',
      }),
  )
  .min(1)
  .max(MOST_WINDOWS)
  .describe(
    'When calls may be placed, in local time. `from` is inside, `to` is not; `24:00` is the end of the day. Hours over midnight are two windows.',
  )
  .meta({ example: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '17:30' }] });

export type CallingWindow = z.infer<typeof callingWindows>[number];
/** In the order of ISO 8601. */
export type Weekday = (typeof WEEKDAYS)[number];
