import { isUuid } from '../../../base/values/ids.ts';
import type { SipTraceMessage, SipTraceStore } from '../../../calls/sipTraceStore.ts';
import type { Queryable } from '../connection/database.ts';
import { isoTime } from '../sql/rows.ts';

/** The most messages of a call with all its legs. The length of each is limited as well. */
const MAX_MESSAGES = 2_000;

interface Row extends Omit<SipTraceMessage, 'at'> {
  at: Date;
}

export function sipTraceStore(database: Queryable): SipTraceStore {
  return {
    async append(projectId, callId, messages) {
      // Inserts nothing when the call is gone or belongs to another project.
      await database.query(
        `INSERT INTO sip_trace (call_id, at, direction, transport, remote, text)
         SELECT calls.id, said.at, said.direction, said.transport, said.remote, said.text
         FROM calls, unnest($3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[]) WITH ORDINALITY
           AS said (at, direction, transport, remote, text, position)
         WHERE calls.project_id = $1 AND calls.id = $2 ORDER BY position`,
        [
          projectId,
          callId,
          messages.map(({ at }) => at),
          messages.map(({ direction }) => direction),
          messages.map(({ transport }) => transport),
          messages.map(({ remote }) => remote),
          // Postgres texts cannot contain NUL characters; hostile messages may.
          messages.map(({ text }) => text.replaceAll('\0', '\ufffd').toWellFormed()),
        ],
      );
    },
    async list(projectId, callId) {
      if (!isUuid(callId)) return [];
      const rows = await database.query<Row>(
        `SELECT sip_trace.at, sip_trace.direction, transport, remote, text
         FROM sip_trace JOIN calls ON calls.id = call_id
         WHERE project_id = $1 AND call_id = $2 ORDER BY sip_trace.at, sip_trace.id LIMIT $3`,
        [projectId, callId, MAX_MESSAGES],
      );
      return rows.map(({ at, direction, transport, remote, text }) => ({
        at: isoTime(at),
        direction,
        transport,
        remote,
        text,
      }));
    },
  };
}
