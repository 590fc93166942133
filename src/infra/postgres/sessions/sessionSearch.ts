import { z } from 'zod';

import { readCursor, writeCursor } from '../../../base/values/cursor.ts';
import type { Page, PageOf } from '../../../base/values/page.ts';
import { MAX_SESSION_CHARACTERS } from '../../../engine/session/session.ts';
import type { FoundSession } from '../../../engine/session/sessionStore.ts';
import type { Queryable } from '../connection/database.ts';
import { asInJson, containing } from '../sql/like.ts';
import { isoTime } from '../sql/rows.ts';
import { isSelective, nextBatch, scan, withSearchTimeout } from './textSearch.ts';

/** JSON text escapes control characters; the data's text has a line break of its own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const CONTROL_CHARACTER = /[\u0000-\u001f]/;

interface FoundRow {
  readonly instance_id: string;
  readonly session_id: string;
  /** The microseconds since 1970, exact as a number. */
  readonly updated_us: number;
}

interface DataRow {
  readonly instance_id: string;
  readonly session_id: string;
  readonly data: unknown;
  readonly started_at: Date;
  readonly updated_at: Date;
}

/** The matches of one statement: their number, and those that the page may have. */
interface Batch {
  readonly last: string | null;
  readonly total: number;
  readonly rows: readonly FoundRow[];
}

/** Behind which session a page begins. */
const positionSchema = z
  .tuple([z.int().min(0), z.int(), z.string()])
  .transform(([total, updatedUs, sessionId]) => ({ total, updatedUs, sessionId }));

/**
 * Searches the data of a project's live sessions, last changed first, with the total number of matches: each message's
 * JSON text, and that of the rest of the data. The trigram index finds rare texts; for others all sessions are read.
 */
export function searchSessions(
  database: Queryable,
  projectId: string,
  text: string,
  page: Page,
): Promise<PageOf<FoundSession>> {
  return withSearchTimeout(database, async (limited) => {
    const scope = ['sessions', projectId, text] as const;
    const behind = readCursor(page, scope, positionSchema);
    const cursor = [behind?.updatedUs ?? null, behind?.sessionId ?? null];
    const parameters = [projectId, patternsOf(text), page.offset + page.limit + 1, ...cursor];
    const batches = (await isSelective(limited, projectId, text))
      ? await limited.query<Batch>(BY_INDEX, parameters)
      : scan<Batch>(limited, BY_SCAN, parameters);
    const found: FoundRow[] = [];
    let counted = 0;
    for await (const { total, rows } of batches) {
      counted += total;
      found.push(...rows);
    }
    if (database.sharesSession) found.sort(byUpdate);
    const rows = found.slice(page.offset, page.offset + page.limit + 1);
    const ids = rows.slice(0, page.limit).map(({ instance_id }) => instance_id);
    const shown = await limited.query<DataRow>(DATA, [ids, MAX_SESSION_CHARACTERS]);
    const end = shown.length === 0 ? ids.length : ids.indexOf(shown.at(-1)?.instance_id ?? '') + 1;
    const last = rows.length > end ? rows[end - 1] : undefined;
    const total = behind?.total ?? counted;
    const nextCursor = last ? writeCursor(scope, [total, last.updated_us, last.session_id]) : null;
    return { items: shown.map(toFound), total, nextCursor };
  });
}

/** The text as it is written, which keys and numbers have, and as JSON strings have it. */
function patternsOf(text: string): string[] {
  const escaped = asInJson(text);
  const needles = escaped.includes(text) ? [text] : [text, escaped];
  return needles.filter((needle) => !CONTROL_CHARACTER.test(needle)).map(containing);
}

function byUpdate(a: FoundRow, b: FoundRow): number {
  return b.updated_us - a.updated_us || (a.session_id < b.session_id ? -1 : 1);
}

/** Selects a batch from the sessions `matched`. $3 is how many rows the page may have, $4 and $5 its cursor. */
const pageOf = (last: string): string => `
  SELECT ${last} AS last, (SELECT count(*)::integer FROM matched) AS total, coalesce((
    SELECT json_agg(page ORDER BY updated_us DESC, session_id) FROM (
      SELECT * FROM (
        SELECT instance_id, session_id, (extract(epoch FROM updated_at) * 1000000)::float8 AS updated_us FROM matched
      ) AS timed
      WHERE $4::float8 IS NULL OR updated_us < $4 OR updated_us = $4 AND session_id > $5::text
      ORDER BY updated_us DESC, session_id LIMIT $3
    ) AS page
  ), '[]'::json) AS rows`;

/** Live messages that the session's data shows. */
const MESSAGES = 'position IS NOT NULL AND text LIKE ANY ($2::text[])';

const BY_INDEX = `
  WITH found AS MATERIALIZED (
    SELECT instance_id FROM session_messages WHERE project_id = $1 AND ${MESSAGES}
    UNION SELECT instance_id FROM sessions WHERE project_id = $1 AND data LIKE ANY ($2::text[])
  ), matched AS MATERIALIZED (
    SELECT instance_id, session_id, updated_at FROM found JOIN sessions USING (instance_id) WHERE data IS NOT NULL
  ) ${pageOf('NULL::text')}`;

const SIZE = `coalesce(octet_length(data), 0)
  + (SELECT message_characters FROM session_history WHERE instance_id = next.instance_id)`;

/** OFFSET 0 has each session's messages read by its id, up to the first one that matches. */
const BY_SCAN = `
  WITH ${nextBatch('sessions', SIZE, 6)}, matched AS MATERIALIZED (
    SELECT instance_id, sessions.session_id, updated_at FROM batch JOIN sessions USING (instance_id)
    WHERE data IS NOT NULL AND (data LIKE ANY ($2::text[]) OR EXISTS (
      SELECT FROM session_messages WHERE instance_id = sessions.instance_id AND ${MESSAGES} OFFSET 0
    ))
  ) ${pageOf('(SELECT max(session_id) FROM batch)')}`;

/** The sessions of a page that are still live. It ends before the session with which it would be too large. */
const DATA = `
  SELECT instance_id, session_id, started_at, updated_at, replace(data, E'\\n', coalesce((
    SELECT string_agg(text, ',' ORDER BY position) FROM session_messages
    WHERE instance_id = page.instance_id AND position IS NOT NULL
  ), ''))::json AS data
  FROM (
    SELECT sessions.*, place, min(place) OVER () AS first_place,
      sum(message_characters + octet_length(data)) OVER (ORDER BY place) AS characters
    FROM unnest($1::uuid[]) WITH ORDINALITY AS found (instance_id, place)
    JOIN sessions USING (instance_id) JOIN session_history USING (instance_id)
  ) AS page
  WHERE place = first_place OR characters <= $2 ORDER BY place`;

function toFound({ session_id: sessionId, data, started_at, updated_at }: DataRow): FoundSession {
  return { sessionId, data, createdAt: isoTime(started_at), updatedAt: isoTime(updated_at) };
}
