import type { Rates } from '../../../agents/cost/rates.ts';
import { type Amounts, toSessionUsage } from '../../../agents/cost/usage.ts';
import type { BilledLeg, CallDirection } from '../../../calls/call.ts';
import { costOf } from '../../../results/cost/costOf.ts';
import type { Queryable } from '../connection/database.ts';
import { storableJson } from '../sql/storable.ts';
import { ratesAt } from './rates.ts';

interface Row {
  usage: Amounts | null;
  stored: string | null;
  direction: CallDirection | null;
  to_number: string;
  talk_ms: number | null;
  legs: readonly BilledLeg[] | null;
  rates: Rates | null;
}

/** Selects what a session of `session_history AS history` has used, also while it is live. */
export const USAGE = `
  sum_of_amounts(usage, (SELECT state->'usage' FROM sessions WHERE instance_id = history.instance_id))`;

const FIND = `
  SELECT usage, usage::text AS stored, to_number, legs,
    CASE WHEN NOT calls.is_test THEN direction END AS direction, ${ratesAt('history.ended_at')} AS rates,
    extract(epoch FROM calls.ended_at - calls.answered_at)::double precision * 1000 AS talk_ms
  FROM session_history AS history LEFT JOIN calls USING (instance_id)
  WHERE history.instance_id = $1 AND history.status = 'ended'`;

/** Changes nothing where something was used meanwhile. */
const UPDATE = `
  UPDATE session_history SET usage = $3::json, cost = coalesce($4::json, cost)
  WHERE instance_id = $1 AND usage::text IS NOT DISTINCT FROM $2 RETURNING 1`;

/** Prices an ended session by the rates at its end, with its call as far as that is known. May be repeated. */
export async function priceSession(database: Queryable, instanceId: string): Promise<void> {
  for (;;) {
    const [row] = await database.query<Row>(FIND, [instanceId]);
    if (!row) return;
    const { usage, stored, rates } = row;
    const { callMs, billed } = legsOf(row);
    const used = callMs > 0 ? { ...usage, callMs } : (usage ?? {});
    const cost = rates && costOf(toSessionUsage(used), billed, rates);
    const change = [instanceId, stored, storableJson(used), cost && storableJson(cost)];
    if ((await database.query(UPDATE, change)).length > 0) return;
    // Deleted, or changed meanwhile.
  }
}

function legsOf({ direction, to_number: to, talk_ms, legs }: Row) {
  const talkTimeMs = Math.max(0, Math.round(talk_ms ?? 0));
  const others = legs ?? [];
  const callMs = others.reduce((sum, leg) => sum + leg.talkTimeMs, talkTimeMs);
  return {
    callMs: Math.round(callMs),
    billed: direction === 'outbound' ? [{ to, talkTimeMs }, ...others] : others,
  };
}
