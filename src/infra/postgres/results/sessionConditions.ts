import type { SessionFilter } from '../../../engine/history/sessionFilter.ts';
import type { Dimension } from '../../../results/insights/sessionFacts.ts';
import type { Given } from '../sql/given.ts';

/** Sessions with their calls. The columns of `session_history` need no prefix. */
export const SESSIONS = `session_history AS history LEFT JOIN (
  SELECT instance_id, project_id, direction, trunk_id, campaign_id, answered_at, ended_at AS call_ended_at,
    CASE WHEN ended_at IS NOT NULL THEN coalesce(end_reason, nullif(status, 'completed')) END AS call_end_reason
  FROM calls
) AS call USING (instance_id, project_id)`;

/**
 * What insights group and filter by, over {@link SESSIONS}; the node of the end is found by the entries.
 *
 * A call whose status says enough, such as `busy`, ends for that reason.
 */
export const DIMENSION_COLUMNS = {
  release: "coalesce(release::text, 'draft')",
  channel: 'channel',
  direction: 'direction',
  trunkId: 'trunk_id',
  campaignId: 'campaign_id',
  agentId: 'NULL::text',
  language: 'language',
  disposition: 'disposition',
  success: 'success',
  endReason: 'coalesce(call_end_reason, end_reason)',
  provider: 'provider',
  currency: "cost->>'currency'",
} as const satisfies Record<Exclude<Dimension, 'node'>, string>;

/** The node of the end is known once the session is counted. */
const FILTER_COLUMNS = { ...DIMENSION_COLUMNS, node: "counted->'dimensions'->>'node'" };

/** Returns the conditions for the sessions of a filter, over {@link SESSIONS}: those ended ones that insights count by it. */
export function sessionConditions(given: Given, { release, ...filter }: SessionFilter): string[] {
  return [
    // As the index of releases has it.
    ...(release === 'draft' ? ['release IS NULL'] : given.when(release, (place) => `release = ${place}`)),
    ...Object.entries(filter).flatMap(([name, value]) => {
      const column = FILTER_COLUMNS[name as keyof typeof filter];
      return value === '' ? [`${column} IS NULL`] : given.when(value, (place) => `${column} = ${place}`);
    }),
  ];
}
