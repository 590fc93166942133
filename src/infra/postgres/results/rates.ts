import type { Rates, RatesStore } from '../../../agents/cost/rates.ts';
import type { Queryable } from '../connection/database.ts';

/** Later usage of sessions that ended before the oldest of these is not priced. */
const KEPT_CHANGES = 100;

const OF_OWNER = 'project_id IS NOT DISTINCT FROM $1::uuid';

/** Selects the rates of the project of `history` that hold at a time. @param at - An expression. */
export function ratesAt(at: string): string {
  const rates = (whose: string) =>
    `(SELECT rates FROM rates WHERE ${whose} AND valid_from <= ${at} ORDER BY valid_from DESC, id DESC LIMIT 1)`;
  return `coalesce(${rates('project_id = history.project_id')}, ${rates('project_id IS NULL')})`;
}

/** The currency of the rates that hold at a time, or else of the first ones after it. @param at - An expression. */
export function currencyFrom(at: string): string {
  return `coalesce(${ratesAt(at)}, (
    SELECT rates FROM rates WHERE (project_id = history.project_id OR project_id IS NULL) AND rates IS NOT NULL
      AND valid_from > ${at} ORDER BY valid_from, id LIMIT 1
  ))->>'currency'`;
}

export function ratesStore(database: Queryable): RatesStore {
  return {
    async own(projectId) {
      const [row] = await database.query<{ rates: Rates | null }>(
        `SELECT rates FROM rates WHERE ${OF_OWNER} ORDER BY valid_from DESC, id DESC LIMIT 1`,
        [projectId],
      );
      return row?.rates ?? undefined;
    },
    async at(projectId, at) {
      const [row] = await database.query<{ rates: Rates | null }>(
        `SELECT ${ratesAt('$2::timestamptz')} AS rates FROM (SELECT $1::uuid AS project_id) AS history`,
        [projectId, at],
      );
      return row?.rates ?? undefined;
    },
    async currencyFrom(projectId, at) {
      const [row] = await database.query<{ currency: string | null }>(
        `SELECT ${currencyFrom('$2::timestamptz')} AS currency FROM (SELECT $1::uuid AS project_id) AS history`,
        [projectId, at],
      );
      return row?.currency ?? undefined;
    },
    async put(projectId, rates, validFrom) {
      await database.query('INSERT INTO rates (project_id, valid_from, rates) VALUES ($1, $2, $3::json)', [
        projectId,
        validFrom,
        rates && JSON.stringify(rates),
      ]);
      await database.query(
        `DELETE FROM rates WHERE id IN (
           SELECT id FROM rates WHERE ${OF_OWNER} ORDER BY valid_from DESC, id DESC OFFSET ${KEPT_CHANGES}
         )`,
        [projectId],
      );
    },
  };
}
