import type { SessionResults } from '../../../engine/history/sessionResults.ts';
import type { Parameter } from '../connection/database.ts';
import { storableJson } from '../sql/storable.ts';

/**
 * Returns the SQL that sets the results of a row of `session_history`. What was not found out stays as it was, and so does
 * an analysis that was done where a later one fails.
 *
 * @param evaluation - The place of its parameter, as {@link resultParameters} returns them.
 */
export function setResults(evaluation: string, analysis: string): string {
  const given = `${analysis}::json`;
  const isSet = `${given} IS NOT NULL AND (analysis->>'status' = 'done') IS NOT TRUE OR ${given}->>'status' = 'done'`;
  const set = (column: string, value: string) =>
    `${column} = CASE WHEN ${isSet} THEN ${value} ELSE ${column} END`;
  return [
    `evaluation = coalesce(${evaluation}::json, evaluation)`,
    set('analysis', given),
    set('disposition', `${given}->>'disposition'`),
    set('success', `(${given}->>'success')::boolean`),
  ].join(', ');
}

/** Returns the parameters of {@link setResults}. */
export function resultParameters({ evaluation, analysis }: SessionResults): Parameter[] {
  return [evaluation ?? null, analysis ?? null].map((value) => value && storableJson(value));
}
