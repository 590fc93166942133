import type { CallFilter } from '../../../calls/callStore.ts';
import type { Parameter } from '../connection/database.ts';
import type { Said } from '../sessions/messageSearch.ts';
import { Given } from '../sql/given.ts';
import { containing } from '../sql/like.ts';
import { storableJson } from '../sql/storable.ts';

/** The condition of the index `calls_traced_by_end`: traces are removed after a call's end. */
const UNENDED = 'ended_at IS NULL AND NOT is_trace_removed';

/** Is true for a call that `violationsOf` finds violations in. */
const HAS_VIOLATIONS = `(answered_at IS NOT NULL AND ended_at IS NOT NULL AND EXISTS (
  SELECT FROM json_array_elements(disclosures) AS owed
  WHERE (owed->>'machines')::boolean OR answering_machine IS DISTINCT FROM 'machine'
))`;

/** Returns the condition for the calls of a list. @param said - The sessions that the filter's `q` matches. */
export function conditions(
  projectId: string,
  filter: CallFilter,
  said: Said | undefined,
): { sql: string; parameters: Parameter[] } {
  const {
    direction,
    status,
    sessionId,
    externalId,
    campaignId,
    disposition,
    success,
    violations,
    release,
    isLive,
    from,
    to,
    number,
    metadata = {},
  } = filter;
  const given = new Given(projectId);
  const parts = [
    'project_id = $1',
    ...(filter.includeTests ? [] : ['NOT is_test']),
    ...given.when(direction, (place) => `direction = ${place}`),
    ...given.when(status, (place) => `status = ANY(${place})`),
    ...given.when(sessionId, (place) => `session_id = ${place}`),
    ...given.when(externalId, (place) => `external_id = ${place}`),
    ...given.when(campaignId, (place) => `campaign_id = ${place}`),
    ...given.when(disposition, (place) => inSessions(`disposition = ${place}`)),
    ...given.when(success, (place) => inSessions(`success = ${place}`)),
    ...(violations === undefined ? [] : [violations ? HAS_VIOLATIONS : `NOT ${HAS_VIOLATIONS}`]),
    ...(release === 'draft' ? ['release IS NULL'] : given.when(release, (place) => `release = ${place}`)),
    ...Object.entries(metadata).map(([key, value]) => {
      const any = metadataWith(key, value).map((json) => isContained(given.add(json)));
      return `(${any.join(' OR ')})`;
    }),
    ...(isLive === undefined ? [] : [isLive ? UNENDED : 'ended_at IS NOT NULL']),
    ...given.when(from, (place) => `created_at >= ${place}::timestamptz`),
    ...given.when(to, (place) => `created_at < ${place}::timestamptz`),
    ...given.when(
      number === undefined ? undefined : containing(number),
      (place) => `(from_number LIKE ${place} OR to_number LIKE ${place})`,
    ),
    ...(said ? [`instance_id IN (${said.query(given.add(said.patterns))})`] : []),
  ];
  return { sql: parts.join(' AND '), parameters: given.parameters };
}

/** Returns the condition for the calls whose sessions meet one. */
const inSessions = (condition: string): string =>
  `instance_id IN (SELECT instance_id FROM session_history WHERE project_id = $1 AND ${condition})`;

/** The condition of the index `calls_by_metadata`. */
const isContained = (place: string): string => `metadata::jsonb @> ${place}::jsonb`;

/** Returns the metadata that a filter may mean, as JSON: `5` is the text or the number. */
function metadataWith(key: string, value: string): string[] {
  const values: unknown[] = [value];
  if (/^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(value)) values.push(JSON.parse(value));
  return values.map((one) => storableJson({ [key]: one }));
}
