import type { CallResults, CallStore, CostSum, ResultNames } from '../../../calls/callStore.ts';
import type { Queryable } from '../connection/database.ts';
import { listSaying } from '../sessions/messageSearch.ts';
import { conditions } from './callConditions.ts';

export function callResults(database: Queryable): Pick<CallStore, 'resultNames' | 'results' | 'costs'> {
  return {
    async resultNames(projectId, filter, limit) {
      const rows = await listSaying(database, projectId, filter.q, (limited, said) => {
        const { sql, parameters } = conditions(projectId, filter, said);
        return limited.query<{ kind: keyof ResultNames; name: string }>(
          namesOf(sql, `$${parameters.length + 1}`),
          [...parameters, limit],
        );
      });
      const names = (kind: keyof ResultNames) =>
        rows.filter((row) => row.kind === kind).map(({ name }) => name);
      return {
        metadata: names('metadata'),
        variables: names('variables'),
        evaluation: names('evaluation'),
        data: names('data'),
      };
    },
    async results(projectId, instanceIds) {
      const rows = await database.query<CallResults & { readonly instance_id: string }>(RESULTS, [
        projectId,
        instanceIds,
      ]);
      return new Map(rows.map(({ instance_id, ...results }) => [instance_id, results]));
    },
    async costs(projectId, ids) {
      const rows = await database.query<CostSum & { readonly id: string }>(COSTS, [projectId, ids]);
      return new Map(rows.map(({ id, ...cost }) => [id, cost]));
    },
  };
}

const COSTS = `
  SELECT id, (cost->>'total')::double precision AS total, cost->>'currency' AS currency
  FROM calls JOIN session_history AS history USING (instance_id)
  WHERE calls.project_id = $1 AND cost IS NOT NULL AND id = ANY ($2::uuid[])`;

/** A session's variables as its history shows them. A live session's variables are in its state. */
const VARIABLES = `
  coalesce(variables, (SELECT state->'variables' FROM sessions WHERE instance_id = history.instance_id))`;

const CRITERIA = `
  json_array_elements(CASE json_typeof(evaluation->'criteria') WHEN 'array' THEN evaluation->'criteria' END)`;

const namesOf = (where: string, limit: string): string => `
  WITH chosen AS MATERIALIZED (SELECT instance_id, metadata FROM calls WHERE ${where}),
  found AS MATERIALIZED (
    SELECT ${VARIABLES} AS variables, evaluation, analysis->'data' AS data FROM session_history AS history
    WHERE instance_id IN (SELECT instance_id FROM chosen)
  ), named (kind, name) AS (
    SELECT 'metadata', json_object_keys(metadata) FROM chosen
    UNION SELECT 'variables', json_object_keys(variables) FROM found WHERE json_typeof(variables) = 'object'
    UNION SELECT 'evaluation', criterion->>'name' FROM found, ${CRITERIA} AS criterion
    UNION SELECT 'data', json_object_keys(data) FROM found WHERE json_typeof(data) = 'object'
  ), numbered AS (SELECT kind, name, row_number() OVER (PARTITION BY kind ORDER BY name) AS place FROM named)
  SELECT kind, name FROM numbered WHERE place <= ${limit} AND name IS NOT NULL ORDER BY name`;

const RESULTS = `
  SELECT instance_id, coalesce(${VARIABLES}, '{}'::json) AS variables,
    (SELECT coalesce(json_object_agg(criterion->>'name', coalesce(criterion->'passed', criterion->'score')), '{}'::json)
     FROM ${CRITERIA} AS criterion WHERE criterion->>'name' IS NOT NULL) AS evaluation
  FROM session_history AS history WHERE project_id = $1 AND instance_id = ANY ($2::uuid[])`;
