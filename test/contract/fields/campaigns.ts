import type { FieldTable } from './fieldTable.ts';

const API = 'api/routes/campaigns/campaigns.integration.test.ts';
const CHANGED = `${API} › is changed field by field inside schedule, pacing, retry and pauseWhen, and lists are replaced`;
const DEFAULTS = `${API} › has the defaults of everything that was not given`;
const HOURS = `${API} › are called in their hours: nextAttemptAt is the next opening by their clocks, or their notBefore`;
const NOTATIONS = `${API} › are taken in any notation, and each row that cannot be called says why`;

export const CAMPAIGNS_FIELDS: readonly FieldTable[] = [
  {
    name: 'campaign',
    places: [['/v1/projects/{projectId}/campaigns'], ['/v1/projects/{projectId}/campaigns/{campaignId}']],
    rows: {
      name: DEFAULTS,
      description: CHANGED,
      fromNumbers: DEFAULTS,
      callerId: DEFAULTS,
      'schedule.startAt': CHANGED,
      'schedule.endAt': CHANGED,
      'schedule.timezone': CHANGED,
      'schedule.windows[].days': HOURS,
      'schedule.windows[].from': HOURS,
      'schedule.windows[].to': HOURS,
      'pacing.maxConcurrent': CHANGED,
      'pacing.callsPerMinute': CHANGED,
      'retry.maxAttempts': CHANGED,
      'retry.rules[].outcomes': CHANGED,
      'retry.rules[].afterMinutes': CHANGED,
      variables: DEFAULTS,
      metadata: DEFAULTS,
      'pauseWhen.failedPercent': CHANGED,
      'pauseWhen.ofLast': CHANGED,
      keepOpen: DEFAULTS,
    },
  },
  {
    name: 'contact',
    places: [['/v1/projects/{projectId}/campaigns/{campaignId}/contacts', 'contacts[].']],
    rows: {
      toNumber: NOTATIONS,
      variables: NOTATIONS,
      timezone: NOTATIONS,
      externalId: `${API} › are found by status, externalId and number, page by page`,
      notBefore: HOURS,
      priority: NOTATIONS,
    },
  },
];
