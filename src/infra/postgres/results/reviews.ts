import type { ReviewReason } from '../../../agents/accounts/reviewRules.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Review } from '../../../engine/history/review.ts';
import type { ReviewedSession, ReviewStore } from '../../../results/reviews/reviewStore.ts';
import type { Queryable } from '../connection/database.ts';
import { HISTORY_COLUMNS, NEWEST_FIRST, SHOWN, toSummary } from '../sessions/history.ts';
import { queryPage } from '../sql/pages.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

interface Row {
  readonly review_reasons: readonly ReviewReason[] | null;
  readonly review: Review | null;
}

const WHERE = {
  open: `${SHOWN} AND NOT is_test AND review_reasons IS NOT NULL AND review IS NULL`,
  done: `${SHOWN} AND NOT is_test AND review IS NOT NULL`,
};

const FIND = `
  SELECT instance_id, status, evaluation FROM session_history WHERE ${SHOWN} AND session_id = $2
  ORDER BY started_at DESC, instance_id DESC LIMIT 1 FOR NO KEY UPDATE`;

export function reviewStore(database: Queryable): ReviewStore {
  return {
    async list(projectId, status, page) {
      const list = {
        name: `${status} reviews`,
        columns: `${HISTORY_COLUMNS}, review_reasons, review`,
        from: 'session_history',
        where: WHERE[status],
        parameters: [projectId],
        ...NEWEST_FIRST,
      };
      return mapPage(await queryPage<Row>(database, list, page), (row) => ({
        ...toSummary(row),
        why: row.review_reasons ?? [],
        review: row.review ?? undefined,
      }));
    },
    async find(projectId, sessionId) {
      const [row] = await database.query<object>(FIND, [projectId, sessionId]);
      return row && fieldsOf<ReviewedSession>(row);
    },
    async save(instanceId, review) {
      const sql = 'UPDATE session_history SET review = $2 WHERE instance_id = $1';
      await database.query(sql, [instanceId, storableJson(review)]);
    },
  };
}
