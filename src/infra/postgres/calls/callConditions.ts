import type { CallFilter } from '../../../calls/callStore.ts';
import type { Parameter } from '../connection/database.ts';
import type { Said } from '../sessions/messageSearch.ts';
import { containing } from '../sql/like.ts';
import { storableJson } from '../sql/storable.ts';

/** The condition of the index `calls_traced_by_end`: traces are removed after a call's end. */
const UNENDED = 'ended_at IS NULL AND NOT is_trace_removed';

/** Holds for the calls of which `violationsOf` names some. */
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
  const parameters: Parameter[] = [projectId];
  const given = (value: Parameter | undefined, sql: (place: string) => string): string[] => {
    if (value === undefined) return [];
    parameters.push(value);
    return [sql(`$${parameters.length}`)];
  };
  const parts = [
    'project_id = $1',
    ...(filter.includeTests ? [] : ['NOT is_test']),
    ...given(direction, (place) => `direction = ${place}`),
    ...given(status, (place) => `status = ANY(${place})`),
    ...given(sessionId, (place) => `session_id = ${place}`),
    ...given(externalId, (place) => `external_id = ${place}`),
    ...given(campaignId, (place) => `campaign_id = ${place}`),
    ...given(disposition, (place) => inSessions(`disposition = ${place}`)),
    ...given(success, (place) => inSessions(`success = ${place}`)),
    ...(violations === undefined ? [] : [violations ? HAS_VIOLATIONS : `NOT ${HAS_VIOLATIONS}`]),
    ...(release === 'draft' ? ['release IS NULL'] : given(release, (place) => `release = ${place}`)),
    ...Object.entries(metadata).map(([key, value]) => {
      const any = metadataWith(key, value).flatMap((json) => given(json, isContained));
      return `(${any.join(' OR ')})`;
    }),
    ...(isLive === undefined ? [] : [isLive ? UNENDED : 'ended_at IS NOT NULL']),
    ...given(from, (place) => `created_at >= ${place}::timestamptz`),
    ...given(to, (place) => `created_at < ${place}::timestamptz`),
    ...given(
      number === undefined ? undefined : containing(number),
      (place) => `(from_number LIKE ${place} OR to_number LIKE ${place})`,
    ),
    ...(said ? given(said.patterns, (place) => `instance_id IN (${said.query(place)})`) : []),
  ];
  return { sql: parts.join(' AND '), parameters };
}

/** The condition for the calls whose sessions meet one. */
const inSessions = (condition: string): string =>
  `instance_id IN (SELECT instance_id FROM session_history WHERE project_id = $1 AND ${condition})`;

/** The condition of the index `calls_by_metadata`. */
const isContained = (place: string): string => `metadata::jsonb @> ${place}::jsonb`;

/** The metadata that a filter may mean, as JSON: `5` is the text or the number. */
function metadataWith(key: string, value: string): string[] {
  const values: unknown[] = [value];
  if (/^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(value)) values.push(JSON.parse(value));
  return values.map((one) => storableJson({ [key]: one }));
}
