import { z } from 'zod';

export const DEFAULT_RETENTION_DAYS = 30;
export const LONGEST_RETENTION_DAYS = 3650;

const days = (description: string, least = 1) =>
  z.int().min(least).max(LONGEST_RETENTION_DAYS).nullable().describe(description);

/** How long what a project has gathered is kept, as somebody sets it. */
export const retentionDaysPatch = z
  .strictObject({
    sessions: days('Transcripts, events and calls, after the end of the session; 0 keeps none.', 0),
    recordings: days('Recordings, after the end of the call, and no longer than its session.'),
    deliveries: days('Webhook deliveries.'),
    traces: days('SIP traces, after the end of the call, and no longer than its session.'),
    tests: days('Test runs.'),
  })
  .partial();

const shown = z.int().min(0).nullable();

/** As it acts. */
export const retentionDays = z
  .object({ sessions: shown, recordings: shown, deliveries: shown, traces: shown, tests: shown })
  .meta({ id: 'RetentionDays' });

export type RetentionDays = z.infer<typeof retentionDays>;
export type RetentionDaysPatch = z.infer<typeof retentionDaysPatch>;

/** What nobody has set is kept as long as sessions are; deliveries and tests are kept where sessions are not. */
export function retentionFrom(
  sessions: number | null,
  {
    recordings = sessions,
    traces = sessions,
    deliveries = sessions === 0 ? DEFAULT_RETENTION_DAYS : sessions,
    tests = DEFAULT_RETENTION_DAYS,
  }: RetentionDaysPatch,
): RetentionDays {
  return { sessions, recordings, deliveries, traces, tests };
}
