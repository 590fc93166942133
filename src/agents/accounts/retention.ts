import { z } from 'zod';

export const DEFAULT_RETENTION_DAYS = 30;
export const LONGEST_RETENTION_DAYS = 3650;

const days = (description: string, least = 1) =>
  z.int().min(least).max(LONGEST_RETENTION_DAYS).nullable().describe(description);

/** The number of days for which each kind of a project's data is kept, as a request sets it. */
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

/** The same with the defaults filled in. */
export const retentionDays = z
  .object({ sessions: shown, recordings: shown, deliveries: shown, traces: shown, tests: shown })
  .meta({ id: 'RetentionDays' });

export type RetentionDays = z.infer<typeof retentionDays>;
export type RetentionDaysPatch = z.infer<typeof retentionDaysPatch>;

/**
 * Fills in the defaults: recordings and traces are kept as long as sessions, deliveries too unless sessions are not kept
 * at all, and test runs for 30 days.
 */
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
