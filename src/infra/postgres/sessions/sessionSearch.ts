import { z } from 'zod';

import { readCursor, writeCursor } from '../../../base/values/cursor.ts';
import type { Page, PageOf } from '../../../base/values/page.ts';
import { ALWAYS_SHOWN, MAX_SESSION_CHARACTERS } from '../../../engine/session/session.ts';
import type { FoundSession } from '../../../engine/session/sessionStore.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { asInJson, containing } from '../sql/like.ts';
import { isoTime } from '../sql/rows.ts';
import { sizeBatches } from '../sql/sizeBatches.ts';
import { searchedNgrams } from './ngrams.ts';

/** Number of latest texts that estimate how common a string is. */
const SAMPLED_TEXTS = 300;
/**
 * A string in more than this share of the sample is common: a page of matches is found quickly, all matches are many.
 */
const COMMON_PART = 0.1;
/** Matches texts that the trigram index supports. Other letters depend on the database's locale. */
const HAS_TRIGRAM = /[A-Za-z0-9]{3}/;
/**
 * The most characters of texts on a page of several sessions. The page ends before the session that would exceed it.
 */
const MAX_PAGE_CHARACTERS = MAX_SESSION_CHARACTERS;
/** The string length up to which the n-gram index is exact. */
const CERTAIN_CHARACTERS = 2;

interface FoundRow {
  instance_id: string;
  session_id: string;
  updated_at: Date;
  /** The microseconds since 1970, exact as a number. */
  updated_us: number;
}

interface TextRow {
  instance_id: string;
  /** The text; null when it is no longer indexed. */
  data: string | null;
  created_at: Date;
}

/** The total count in every row; where no session is on the page, in one without a session. */
type CountedRow = { readonly total: number } & (FoundRow | { readonly session_id: null });

/** Behind which session a page begins. */
const positionSchema = z
  .tuple([z.int().min(0), z.int(), z.string()])
  .transform(([total, updatedUs, sessionId]) => ({ total, updatedUs, sessionId }));

/** The string itself and its JSON-escaped form; null when both are equal. */
type Needles = readonly [text: string, other: string | null];

/** Sessions that have changed since they were indexed, and of these the ones that contain the string. */
interface Changed {
  readonly all: readonly string[];
  readonly instanceIds: readonly string[];
  readonly sessionIds: readonly string[];
  readonly updatedAt: readonly string[];
}

interface Search {
  readonly database: Queryable;
  readonly projectId: string;
  readonly needles: Needles;
  readonly page: Page;
  readonly behind: z.infer<typeof positionSchema> | undefined;
  readonly changed: Changed;
}

/** The result of a search. It has one row more than the page when the page is not the last. */
interface Found {
  readonly rows: readonly FoundRow[];
  readonly total: number;
}

/**
 * Searches the texts of a project's live sessions, last changed first, with the total number of matches. Sessions that
 * have changed since they were indexed are read themselves.
 *
 * The plan for the others depends on how common the string is:
 *
 * | string | page | count |
 * |---|---|---|
 * | common, one or two characters | scan in order until the page is full | n-gram index |
 * | common, longer | the same | scan; not needed when all texts match |
 * | rare, three letters or digits in a row | trigram index | the same |
 * | rare, any other | n-gram index | the same |
 */
export async function searchSessions(
  database: Queryable,
  projectId: string,
  text: string,
  page: Page,
): Promise<PageOf<FoundSession>> {
  const scope = ['sessions', projectId, text] as const;
  const behind = readCursor(page, scope, positionSchema);
  const escaped = asInJson(text);
  const needles: Needles = [text, escaped.includes(text) ? null : escaped];
  const [sample] = await database.query<{ seen: number; holding: number }>(SAMPLE, [
    projectId,
    ...needles,
    SAMPLED_TEXTS,
  ]);
  const { seen = 0, holding = 0 } = sample ?? {};
  const changed = await findChanged(database, projectId, needles);
  const search: Search = { database, projectId, needles, page, behind, changed };
  const isCommon = seen > 0 && holding >= seen * COMMON_PART;
  const found = await (isCommon
    ? searchCommon(search)
    : HAS_TRIGRAM.test(text)
      ? searchByTrigrams(search)
      : searchByGrams(search));
  const total = behind?.total ?? found.total;
  const { items, end } = await readTexts(search, found.rows.slice(0, page.limit));
  const last = found.rows.length > end ? found.rows[end - 1] : undefined;
  return {
    items,
    total,
    nextCursor: last ? writeCursor(scope, [total, last.updated_us, last.session_id]) : null,
  };
}

/** Returns the SQL that is true when the text contains the string, with the expression of the database's functions. */
const holds = (needle: '$2' | '$3') => `octet_length(split_part(data, ${needle}, 1)) < octet_length(data)`;
const MATCHES = `(${holds('$2')} OR ${holds('$3')})`;

const SAMPLE = `
  SELECT count(*)::integer AS seen, (count(*) FILTER (WHERE ${MATCHES}))::integer AS holding
  FROM (
    SELECT data FROM session_texts WHERE project_id = $1 ORDER BY updated_at DESC, session_id LIMIT $4
  ) AS latest`;

const CHANGED = `
  SELECT live.instance_id, live.session_id, updated_at::text,
    message_characters + state_characters AS characters
  FROM session_history AS history JOIN sessions AS live USING (instance_id)
  WHERE history.project_id = $1 AND index_after IS NOT NULL AND NOT is_test`;

/** OFFSET 0 has each text made once. */
const MATCHING = `
  SELECT instance_id FROM (
    SELECT instance_id, live_session_text(instance_id) AS data
    FROM sessions WHERE project_id = $1 AND instance_id = ANY ($4::uuid[]) OFFSET 0
  ) AS changed WHERE ${MATCHES}`;

interface ChangedRow {
  instance_id: string;
  session_id: string;
  updated_at: string;
  characters: number;
}

async function findChanged(database: Queryable, projectId: string, needles: Needles): Promise<Changed> {
  const rows = await database.query<ChangedRow>(CHANGED, [projectId]);
  const matching = new Set<string>();
  for (const batch of sizeBatches(rows)) {
    const ids = batch.map(({ instance_id }) => instance_id);
    const found = await database.query<{ instance_id: string }>(MATCHING, [projectId, ...needles, ids]);
    for (const { instance_id } of found) matching.add(instance_id);
  }
  const matches = rows.filter(({ instance_id }) => matching.has(instance_id));
  return {
    all: rows.map(({ instance_id }) => instance_id),
    instanceIds: matches.map(({ instance_id }) => instance_id),
    sessionIds: matches.map(({ session_id }) => session_id),
    updatedAt: matches.map(({ updated_at }) => updated_at),
  };
}

/**
 * $4 and $5 are the page, $6 to $9 the changed sessions, $10 and $11 the cursor; plans have their own parameters from $12
 * on.
 */
function parametersOf({ projectId, needles, page, behind, changed }: Search): readonly Parameter[] {
  const { all, instanceIds, sessionIds, updatedAt } = changed;
  const range = [page.limit + 1, page.offset];
  const cursor = [behind?.updatedUs ?? null, behind?.sessionId ?? null];
  return [projectId, ...needles, ...range, all, instanceIds, sessionIds, updatedAt, ...cursor];
}

const START = `timestamptz 'epoch' + $10::float8 * interval '1 microsecond'`;
/**
 * The condition for the sessions behind the cursor; without a cursor, for all. The first comparison lets an index begin
 * at the cursor.
 */
const IS_BEHIND = `($10::float8 IS NULL
  OR updated_at <= ${START} AND (updated_at < ${START} OR session_id > $11::text))`;

/** Selects the page of the indexed sessions that match and of the changed ones. */
const pageOf = (indexed: string): string => `
  SELECT instance_id, session_id, updated_at FROM (${indexed}) AS indexed
  WHERE instance_id <> ALL ($6::uuid[]) AND ${IS_BEHIND}
  UNION ALL
  SELECT * FROM unnest($7::uuid[], $8::text[], $9::timestamptz[]) AS changed (instance_id, session_id, updated_at)
  WHERE ${IS_BEHIND}`;
const ORDERED = 'ORDER BY updated_at DESC, session_id';
const UPDATED_US = '(extract(epoch FROM updated_at) * 1000000)::float8 AS updated_us';

/** Reads as many indexed sessions as the page needs. */
const COMMON_PAGE = `
  SELECT instance_id, session_id, updated_at, ${UPDATED_US}
  FROM (
    ${pageOf(`
      SELECT instance_id, session_id, updated_at FROM session_texts
      WHERE project_id = $1 AND ${IS_BEHIND} AND ${MATCHES} AND instance_id <> ALL ($6::uuid[])
      ${ORDERED} LIMIT $4::bigint + $5::bigint`)}
    ${ORDERED} LIMIT $4 OFFSET $5
  ) AS page ${ORDERED}`;

async function searchCommon(search: Search): Promise<Found> {
  const { database, behind, changed } = search;
  const showing = database.query<FoundRow>(COMMON_PAGE, parametersOf(search));
  if (behind) return { rows: await showing, total: behind.total };
  const [indexed, outdated, rows] = await Promise.all([countCommon(search), countOutdated(search), showing]);
  return { rows, total: indexed - outdated + changed.instanceIds.length };
}

/** Matches in texts that have changed since. */
async function countOutdated({ database, projectId, needles, changed }: Search): Promise<number> {
  if (changed.all.length === 0) return 0;
  const [count] = await database.query<{ total: number }>(
    `SELECT count(*)::integer AS total FROM session_texts
     WHERE project_id = $1 AND instance_id = ANY ($4::uuid[]) AND ${MATCHES}`,
    [projectId, ...needles, changed.all],
  );
  return count?.total ?? 0;
}

async function countCommon({ database, projectId, needles }: Search): Promise<number> {
  const [text, other] = needles;
  const counting = async (sql: string, parameters: readonly Parameter[]) => {
    const [count] = await database.query<{ total: number }>(sql, [projectId, ...parameters]);
    return count?.total ?? 0;
  };
  if (ALWAYS_SHOWN.some((part) => part.includes(text)))
    return await counting('SELECT count(*)::integer AS total FROM session_texts WHERE project_id = $1', []);
  if (isCertain(needles)) return await counting(COUNT_CERTAIN, [searchedNgrams(projectId, text), text]);
  // Escaped characters are rare: skip the second scan when no text has the escaped form.
  const isOtherHeld =
    other !== null && (await counting(COUNT_BY_GRAMS, [searchedNgrams(projectId, other), other])) > 0;
  return await counting(COUNT_BY_SCAN, [text, isOtherHeld ? other : null]);
}

const COUNT_CERTAIN = 'SELECT count_by_grams($1, $2::bigint[], $3) AS total';
const COUNT_BY_GRAMS = `
  SELECT count(*)::integer AS total FROM find_by_grams($1, $2::bigint[], NULL, $3, NULL, false)`;
const COUNT_BY_SCAN = 'SELECT * FROM count_session_texts($1, $2, $3) AS total';

function isCertain([text, other]: Needles): boolean {
  return other === null && [...text].length <= CERTAIN_CHARACTERS;
}

/** Selects the page from the few matches; each row has the total count. */
const countedPageOf = (indexed: string): string => `
  WITH found AS MATERIALIZED (${pageOf(indexed)}), page AS (
    SELECT * FROM found ${ORDERED} LIMIT $4 OFFSET $5
  )
  SELECT total, page.*, ${UPDATED_US}
  FROM (SELECT count(*)::integer AS total FROM found) AS counted LEFT JOIN page ON true
  ${ORDERED}`;

const BY_TRIGRAMS = countedPageOf(`
  SELECT instance_id, session_id, updated_at FROM session_texts
  WHERE project_id = $1 AND (data LIKE $2 OR data LIKE $3)`);
/** Has no second OR branch, which would cost another index scan. */
const BY_TRIGRAMS_OF_ONE = countedPageOf(`
  SELECT instance_id, session_id, updated_at FROM session_texts
  WHERE project_id = $1 AND data LIKE $2 AND $3::text IS NULL`);

async function searchByTrigrams(search: Search): Promise<Found> {
  const [text, other] = search.needles;
  const needles: Needles = [containing(text), other === null ? null : containing(other)];
  const sql = other === null ? BY_TRIGRAMS_OF_ONE : BY_TRIGRAMS;
  return toCounted(await search.database.query<CountedRow>(sql, parametersOf({ ...search, needles })));
}

const BY_GRAMS = countedPageOf('SELECT * FROM find_by_grams($1, $12::bigint[], $13::bigint[], $2, $3, $14)');

async function searchByGrams(search: Search): Promise<Found> {
  const { database, projectId, needles } = search;
  const [text, other] = needles;
  const rows = await database.query<CountedRow>(BY_GRAMS, [
    ...parametersOf(search),
    searchedNgrams(projectId, text),
    other === null ? null : searchedNgrams(projectId, other),
    isCertain(needles),
  ]);
  return toCounted(rows);
}

function toCounted(rows: readonly CountedRow[]): Found {
  return { rows: rows.filter((row) => row.session_id !== null), total: rows[0]?.total ?? 0 };
}

/**
 * Reads the texts of a page, as many as it may have.
 *
 * @returns The sessions that are still live, and behind how many rows the page ends.
 */
async function readTexts(
  { database, projectId, changed }: Search,
  rows: readonly FoundRow[],
): Promise<{ readonly items: FoundSession[]; readonly end: number }> {
  const ids = rows.map(({ instance_id }) => instance_id);
  const sizes = await database.query<Sized>(SIZES, [projectId, ids]);
  const sizeOf = new Map(sizes.map(({ instance_id, characters }) => [instance_id, characters]));
  const sized = rows.map((row) => ({ ...row, characters: sizeOf.get(row.instance_id) ?? 0 }));
  const items: FoundSession[] = [];
  let end = 0;
  let characters = 0;
  for (const batch of sizeBatches(sized)) {
    const asked = batch.map(({ instance_id }) => instance_id);
    const texts = await database.query<TextRow>(TEXTS, [asked, changed.all]);
    const textOf = new Map(texts.map((text) => [text.instance_id, text]));
    for (const row of batch) {
      const text = textOf.get(row.instance_id);
      characters += text?.data?.length ?? 0;
      if (end > 0 && characters > MAX_PAGE_CHARACTERS) return { items, end };
      end += 1;
      if (text?.data != null) items.push(toFound(row, text.data, text.created_at));
    }
  }
  return { items, end };
}

interface Sized {
  instance_id: string;
  characters: number;
}

const SIZES = `
  SELECT instance_id, message_characters + state_characters AS characters
  FROM session_history JOIN sessions USING (instance_id)
  WHERE session_history.project_id = $1 AND instance_id = ANY ($2::uuid[])`;

const TEXTS = `
  SELECT instance_id, started_at AS created_at, CASE WHEN instance_id = ANY ($2::uuid[])
    THEN live_session_text(instance_id)
    ELSE (SELECT data FROM session_texts WHERE session_texts.instance_id = sessions.instance_id)
  END AS data FROM sessions WHERE instance_id = ANY ($1::uuid[])`;

function toFound(
  { session_id: sessionId, updated_at }: FoundRow,
  data: string,
  created_at: Date,
): FoundSession {
  const [createdAt, updatedAt] = [isoTime(created_at), isoTime(updated_at)];
  return { sessionId, data: JSON.parse(data), createdAt, updatedAt };
}
