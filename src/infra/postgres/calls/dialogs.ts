import type { DialogStore, StoredDialog } from '../../../calls/dialogStore.ts';
import type { Queryable } from '../connection/database.ts';

/** A running node ends its own legs within this time after the call. */
const OWN_END_SECONDS = 20;

export function dialogStore(database: Queryable): DialogStore {
  return {
    async save({ dialogId, callId, ...dialog }) {
      await database.query(
        `INSERT INTO call_dialogs (dialog_id, call_id, dialog) VALUES ($1, $2, $3)
         ON CONFLICT (dialog_id) DO UPDATE SET dialog = excluded.dialog`,
        [dialogId, callId, JSON.stringify(dialog)],
      );
    },
    async remove(dialogId) {
      await database.query('DELETE FROM call_dialogs WHERE dialog_id = $1', [dialogId]);
    },
    async takeLost(limit) {
      const rows = await database.query<{
        dialog_id: string;
        call_id: string;
        dialog: Omit<StoredDialog, 'dialogId' | 'callId'>;
      }>(
        `DELETE FROM call_dialogs WHERE dialog_id IN (
           SELECT dialog_id FROM call_dialogs LEFT JOIN calls ON calls.id = call_id
           WHERE calls.id IS NULL OR ended_at IS NOT NULL
             AND (end_reason = 'node_lost' OR ended_at < now() - make_interval(secs => $2))
           LIMIT $1 FOR UPDATE OF call_dialogs SKIP LOCKED)
         RETURNING dialog_id, call_id, dialog`,
        [limit, OWN_END_SECONDS],
      );
      return rows.map(({ dialog_id, call_id, dialog }) => ({
        ...dialog,
        dialogId: dialog_id,
        callId: call_id,
      }));
    },
  };
}
