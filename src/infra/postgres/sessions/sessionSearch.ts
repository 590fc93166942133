import type { Page, PageOf } from '../../../base/page.ts';
import { ALWAYS_SHOWN } from '../../../engine/session/session.ts';
import type { FoundSession } from '../../../engine/session/sessionStore.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { asInJson, containing } from '../sql/like.ts';
import { isoTime } from '../sql/rows.ts';
import { searchedNgrams } from './ngrams.ts';

/** Number of latest texts that estimate how common a string is. */
const SAMPLED_TEXTS = 300;
/**
 * A string in more than this share of the sample is common: a page of matches is found quickly, all matches are many.
 */
const COMMON_PART = 0.1;
/** What the trigram index can match; other letters depend on the database's locale. */
const HAS_TRIGRAM = /[A-Za-z0-9]{3}/;
/** For strings up to this length the n-gram index is exact. */
const CERTAIN_CHARACTERS = 2;

interface FoundRow {
  total: number;
  session_id: string | null;
  data: string;
  created_at: Date;
  updated_at: Date;
}

/** The string itself and its JSON-escaped form; null when both are equal. */
type Needles = readonly [text: string, other: string | null];

/**
 * Searches the texts of a project's live sessions, last changed first, with the total number of matches.
 *
 * The plan depends on how common the string is:
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
  const escaped = asInJson(text);
  const needles: Needles = [text, escaped.includes(text) ? null : escaped];
  const [sample] = await database.query<{ seen: number; holding: number }>(SAMPLE, [
    projectId,
    ...needles,
    SAMPLED_TEXTS,
  ]);
  if (!sample || sample.seen === 0) return { items: [], total: 0 };
  if (sample.holding >= sample.seen * COMMON_PART)
    return await searchCommon(database, projectId, needles, page);
  const rows = HAS_TRIGRAM.test(text)
    ? await searchByTrigrams(database, projectId, needles, page)
    : await searchByGrams(database, projectId, needles, page);
  return {
    items: rows.flatMap((row) => (row.session_id === null ? [] : [toFound(row, row.session_id)])),
    total: rows[0]?.total ?? 0,
  };
}

/** True when the text contains the string; the same expression as in the database's functions. */
const holds = (needle: '$2' | '$3') => `octet_length(split_part(data, ${needle}, 1)) < octet_length(data)`;
const MATCHES = `(${holds('$2')} OR ${holds('$3')})`;

const SAMPLE = `
  SELECT count(*)::integer AS seen, (count(*) FILTER (WHERE ${MATCHES}))::integer AS holding
  FROM (
    SELECT data FROM session_texts WHERE project_id = $1 ORDER BY updated_at DESC, session_id LIMIT $4
  ) AS latest`;

const COMMON_PAGE = `
  SELECT session_id, data, created_at, updated_at FROM session_texts
  WHERE project_id = $1 AND ${MATCHES} ORDER BY updated_at DESC, session_id LIMIT $4 OFFSET $5`;

async function searchCommon(
  database: Queryable,
  projectId: string,
  needles: Needles,
  page: Page,
): Promise<PageOf<FoundSession>> {
  const showing = database.query<FoundRow & { session_id: string }>(COMMON_PAGE, [
    projectId,
    ...needles,
    page.limit,
    page.offset,
  ]);
  const [total, rows] = await Promise.all([countCommon(database, projectId, needles), showing]);
  return { items: rows.map((row) => toFound(row, row.session_id)), total };
}

async function countCommon(database: Queryable, projectId: string, needles: Needles): Promise<number> {
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
const pageOf = (found: string): string => `
  WITH found AS MATERIALIZED (${found}), page AS (
    SELECT * FROM found ORDER BY updated_at DESC, session_id LIMIT $4 OFFSET $5
  )
  SELECT total, page.session_id, text.data, text.created_at, page.updated_at
  FROM (SELECT count(*)::integer AS total FROM found) AS counted
  LEFT JOIN page ON true
  LEFT JOIN session_texts AS text USING (instance_id)
  ORDER BY page.updated_at DESC, page.session_id`;

const BY_TRIGRAMS = pageOf(`
  SELECT instance_id, session_id, updated_at FROM session_texts
  WHERE project_id = $1 AND (data LIKE $2 OR data LIKE $3)`);
/** Without a second OR branch, which would cost another index scan. */
const BY_TRIGRAMS_OF_ONE = pageOf(`
  SELECT instance_id, session_id, updated_at FROM session_texts
  WHERE project_id = $1 AND data LIKE $2 AND $3::text IS NULL`);

async function searchByTrigrams(
  database: Queryable,
  projectId: string,
  [text, other]: Needles,
  { limit, offset }: Page,
): Promise<FoundRow[]> {
  return await database.query<FoundRow>(other === null ? BY_TRIGRAMS_OF_ONE : BY_TRIGRAMS, [
    projectId,
    containing(text),
    other === null ? null : containing(other),
    limit,
    offset,
  ]);
}

const BY_GRAMS = pageOf('SELECT * FROM find_by_grams($1, $6::bigint[], $7::bigint[], $2, $3, $8)');

async function searchByGrams(
  database: Queryable,
  projectId: string,
  needles: Needles,
  { limit, offset }: Page,
): Promise<FoundRow[]> {
  const [text, other] = needles;
  return await database.query<FoundRow>(BY_GRAMS, [
    projectId,
    ...needles,
    limit,
    offset,
    searchedNgrams(projectId, text),
    other === null ? null : searchedNgrams(projectId, other),
    isCertain(needles),
  ]);
}

function toFound(row: FoundRow, sessionId: string): FoundSession {
  return {
    sessionId,
    data: JSON.parse(row.data),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
