import { z } from 'zod';

import { timezone } from '../fields.ts';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const MOST_WINDOWS = 50;
const MOST_EXCEPTIONS = 400;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const END = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

/** What places an outbound call: an order by API, a callback that was agreed with a caller, a campaign. */
const CALL_ORIGINS = ['campaign', 'callback', 'api'] as const;
export type CallOrigin = (typeof CALL_ORIGINS)[number];

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

const windowsTimezone = z
  .union([z.literal('callee'), timezone])
  .describe(
    'Whose clocks `windows` are read by: `callee` for those of the called number, or an IANA time zone. Where a number may be in several zones, all of their clocks must be inside.',
  )
  .meta({ example: 'callee' });

export const callingHours = z
  .strictObject({
    timezone: windowsTimezone.default('callee'),
    windows: callingWindows,
    exceptDates: z
      .array(z.iso.date('must be a date such as 2026-12-25'))
      .max(MOST_EXCEPTIONS)
      .optional()
      .describe('Days without a call, by the calendar of the same time zone.')
      .meta({ example: ['2026-12-25'] }),
    appliesTo: z
      .array(z.enum(CALL_ORIGINS))
      .default(['campaign', 'callback'])
      .describe(
        'The calls that the hours hold for. An order by API outside of them is 422 `outside_calling_hours` with `nextAllowedAt`; a callback moves to the next allowed time.',
      ),
  })
  .describe('When outbound calls may be placed; null for any hour.');

export type CallingWindow = z.infer<typeof callingWindows>[number];
export type CallingHours = z.infer<typeof callingHours>;
export type Weekday = (typeof WEEKDAYS)[number];

/** The hours of new projects, which the law of most countries allows. */
export const NEW_PROJECT_CALLING_HOURS: CallingHours = {
  timezone: 'callee',
  windows: [{ days: [...WEEKDAYS], from: '08:00', to: '21:00' }],
  appliesTo: ['campaign', 'callback'],
};
