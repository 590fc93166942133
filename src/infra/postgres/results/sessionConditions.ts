import type { SessionFilter } from '../../../results/analysis/analysisStore.ts';
import type { Parameter } from '../connection/database.ts';

/** Returns the condition for the chosen ended sessions, over `session_history AS history LEFT JOIN calls`. */
export function sessionConditions(
  projectId: string,
  filter: SessionFilter,
): { sql: string; parameters: Parameter[] } {
  const { from, to, release, disposition, success, channel, direction, endReason, trunkId, campaignId } =
    filter;
  const parameters: Parameter[] = [projectId, from, to];
  const given = (value: Parameter | undefined, sql: (place: string) => string): string[] =>
    value === undefined ? [] : [sql(`$${parameters.push(value)}`)];
  const parts = [
    "history.project_id = $1 AND history.status = 'ended' AND NOT history.is_test",
    'history.started_at >= $2::timestamptz AND history.started_at < $3::timestamptz',
    ...(release === 'draft'
      ? ['history.release IS NULL']
      : given(release, (place) => `history.release = ${place}`)),
    ...given(disposition, (place) => `history.disposition = ${place}`),
    ...given(success, (place) => `history.success = ${place}`),
    ...given(channel, (place) => `history.channel = ${place}`),
    ...given(direction, (place) => `direction = ${place}`),
    ...given(endReason, (place) => `(history.end_reason = ${place} OR calls.end_reason = ${place})`),
    ...given(trunkId, (place) => `trunk_id::text = ${place}`),
    ...given(campaignId, (place) => `campaign_id::text = ${place}`),
  ];
  return { sql: parts.join(' AND '), parameters };
}
