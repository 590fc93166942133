import type { FieldTable } from './fieldTable.ts';

const API = 'api/routes/campaigns/campaigns.integration.test.ts';
const CHANGED = `${API} › is changed field by field inside schedule, pacing, retry and pauseWhen, and lists are replaced`;
const DEFAULTS = `${API} › has the defaults of everything that was not given`;
const RUN = 'campaigns/runCampaign.integration.test.ts';
const WITHIN = `${RUN} › calls nobody outside the hours of their own clocks, nor before startAt or their notBefore`;
const RETRIED = `${RUN} › calls a contact again by its rules and within the hours, then it is done, and is told once`;
const ORDERED = `${RUN} › calls by priority, then in the order of arrival, with its variables under the contact’s`;
const PACED = `${RUN} › keeps its pace, and no more contacts at once than it may`;
const NOTATIONS = `${API} › are taken in any notation, and each row that cannot be called says why`;
const REHEARSED = `${API} › is rehearsed with its first contacts, and what happens to each follows from the seed`;

export const CAMPAIGNS_FIELDS: readonly FieldTable[] = [
  {
    name: 'campaign',
    places: [['/v1/projects/{projectId}/campaigns'], ['/v1/projects/{projectId}/campaigns/{campaignId}']],
    rows: {
      name: DEFAULTS,
      description: CHANGED,
      fromNumbers: `${RUN} › since a from number may not call is placed from the next one; without one the campaign pauses`,
      callerId: 'campaigns/pacing.test.ts › %s for %s after %i calls is %s',
      'schedule.startAt': WITHIN,
      'schedule.endAt': `${RUN} › ends at endAt: contacts that are left are skipped, and a call in progress counts`,
      'schedule.timezone': CHANGED,
      'schedule.windows[].days': WITHIN,
      'schedule.windows[].from': WITHIN,
      'schedule.windows[].to': WITHIN,
      'pacing.maxConcurrent': PACED,
      'pacing.callsPerMinute': PACED,
      'retry.maxAttempts': RETRIED,
      'retry.rules[].outcomes': RETRIED,
      'retry.rules[].afterMinutes': RETRIED,
      variables: ORDERED,
      metadata: ORDERED,
      'pauseWhen.failedPercent': 'campaigns/attempt.test.ts › %s',
      'pauseWhen.ofLast': 'campaigns/attempt.test.ts › %s',
      keepOpen: `${RUN} › stays open for more contacts with keepOpen`,
    },
  },
  {
    name: 'contact',
    places: [['/v1/projects/{projectId}/campaigns/{campaignId}/contacts', 'contacts[].']],
    rows: {
      toNumber: NOTATIONS,
      variables: ORDERED,
      timezone: WITHIN,
      externalId: `${API} › are found by status, externalId and number, page by page`,
      notBefore: WITHIN,
      priority: ORDERED,
    },
  },
  {
    name: 'rehearsal',
    places: [['/v1/projects/{projectId}/campaigns/{campaignId}/rehearse']],
    rows: { contacts: REHEARSED, seed: REHEARSED },
  },
];
