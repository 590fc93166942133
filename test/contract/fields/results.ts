import type { FieldTable } from './fieldTable.ts';

const FIRES = 'results/alerts/alertAfter.test.ts › %s';
const TOLD =
  'app/webhooks.integration.test.ts › An alert fires once over all nodes, and its webhook is told, signed, when it begins and when it is over';
const FILTERED = 'infra/postgres/results/alerts.integration.test.ts › takes the sessions of its filter';
const IN_WINDOW =
  'infra/postgres/results/alerts.integration.test.ts › takes the sessions that ended within its window';

export const RESULTS_FIELDS: readonly FieldTable[] = [
  {
    name: 'alert',
    places: [['/v1/projects/{projectId}/alerts'], ['/v1/projects/{projectId}/alerts/{alertId}']],
    rows: {
      name: TOLD,
      metric: FIRES,
      windowMinutes: IN_WINDOW,
      minCount: FIRES,
      above: FIRES,
      below: FIRES,
      enabled: TOLD,
      'filter.release': FILTERED,
      'filter.disposition': FILTERED,
      'filter.success': FILTERED,
      'filter.channel': FILTERED,
      'filter.direction': FILTERED,
      'filter.endReason': FILTERED,
      'filter.trunkId': FILTERED,
      'filter.campaignId': FILTERED,
      'filter.agentId': FILTERED,
      'filter.language': FILTERED,
      'filter.node': FILTERED,
      'filter.provider': FILTERED,
      'webhook.url': TOLD,
      'webhook.headers[].key': TOLD,
      'webhook.headers[].value': TOLD,
    },
  },
];
