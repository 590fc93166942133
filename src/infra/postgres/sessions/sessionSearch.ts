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
  /** Null where the session has ended meanwhile. */
  data: string | null;
  created_at: Date;
  updated_at: Date;
}

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
  readonly changed: Changed;
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
  const escaped = asInJson(text);
  const needles: Needles = [text, escaped.includes(text) ? null : escaped];
  const [sample] = await database.query<{ seen: number; holding: number }>(SAMPLE, [
    projectId,
    ...needles,
    SAMPLED_TEXTS,
  ]);
  const { seen = 0, holding = 0 } = sample ?? {};
  const changed = await findChanged(database, projectId, needles);
  const search: Search = { database, projectId, needles, page, changed };
  if (seen > 0 && holding >= seen * COMMON_PART) return await searchCommon(search);
  const rows = await (HAS_TRIGRAM.test(text) ? searchByTrigrams(search) : searchByGrams(search));
  return { items: rows.flatMap(toFound), total: rows[0]?.total ?? 0 };
}

/** True when the text contains the string; the same expression as in the database's functions. */
const holds = (needle: '$2' | '$3') => `octet_length(split_part(data, ${needle}, 1)) < octet_length(data)`;
const MATCHES = `(${holds('$2')} OR ${holds('$3')})`;

const SAMPLE = `
  SELECT count(*)::integer AS seen, (count(*) FILTER (WHERE ${MATCHES}))::integer AS holding
  FROM (
    SELECT data FROM session_texts WHERE project_id = $1 ORDER BY updated_at DESC, session_id LIMIT $4
  ) AS latest`;

const CHANGED = `
  SELECT instance_id, session_id, updated_at::text, ${MATCHES} AS is_match
  FROM (
    SELECT live.instance_id, live.session_id, coalesce(updated_at, last_activity_at) AS updated_at,
      live_session_text(live.instance_id) AS data
    FROM session_history AS history JOIN sessions AS live USING (instance_id)
    WHERE history.project_id = $1 AND index_after IS NOT NULL
  ) AS changed`;

async function findChanged(database: Queryable, projectId: string, needles: Needles): Promise<Changed> {
  const rows = await database.query<{
    instance_id: string;
    session_id: string;
    updated_at: string;
    is_match: boolean;
  }>(CHANGED, [projectId, ...needles]);
  const matches = rows.filter(({ is_match }) => is_match);
  return {
    all: rows.map(({ instance_id }) => instance_id),
    instanceIds: matches.map(({ instance_id }) => instance_id),
    sessionIds: matches.map(({ session_id }) => session_id),
    updatedAt: matches.map(({ updated_at }) => updated_at),
  };
}

/** $4 and $5 are the page, $6 to $9 the changed sessions; plans have their own parameters from $10 on. */
function parametersOf({ projectId, needles, page, changed }: Search): readonly Parameter[] {
  const { all, instanceIds, sessionIds, updatedAt } = changed;
  return [projectId, ...needles, page.limit, page.offset, all, instanceIds, sessionIds, updatedAt];
}

/** Selects the page of the indexed sessions that match and of the changed ones. */
const pageOf = (indexed: string): string => `
  SELECT instance_id, session_id, updated_at FROM (${indexed}) AS indexed
  WHERE instance_id <> ALL ($6::uuid[])
  UNION ALL
  SELECT * FROM unnest($7::uuid[], $8::text[], $9::timestamptz[]) AS changed (instance_id, session_id, updated_at)`;
const ORDERED = 'ORDER BY updated_at DESC, session_id';
const DATA = `
  CASE WHEN instance_id = ANY ($6::uuid[]) THEN live_session_text(instance_id)
    ELSE (SELECT data FROM session_texts WHERE session_texts.instance_id = page.instance_id) END AS data,
  (SELECT started_at FROM sessions WHERE sessions.instance_id = page.instance_id) AS created_at`;

/** As many as reach to the page's end, of the indexed ones alone. */
const COMMON_PAGE = `
  SELECT session_id, updated_at, ${DATA}
  FROM (
    ${pageOf(`
      SELECT instance_id, session_id, updated_at FROM session_texts
      WHERE project_id = $1 AND ${MATCHES} AND instance_id <> ALL ($6::uuid[]) ${ORDERED} LIMIT $4::bigint + $5::bigint`)}
    ${ORDERED} LIMIT $4 OFFSET $5
  ) AS page ${ORDERED}`;

async function searchCommon(search: Search): Promise<PageOf<FoundSession>> {
  const { database, changed } = search;
  const showing = database.query<FoundRow>(COMMON_PAGE, parametersOf(search));
  const [indexed, outdated, rows] = await Promise.all([countCommon(search), countOutdated(search), showing]);
  return { items: rows.flatMap(toFound), total: indexed - outdated + changed.instanceIds.length };
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
  SELECT total, page.session_id, page.updated_at, ${DATA}
  FROM (SELECT count(*)::integer AS total FROM found) AS counted LEFT JOIN page ON true
  ${ORDERED}`;

const BY_TRIGRAMS = countedPageOf(`
  SELECT instance_id, session_id, updated_at FROM session_texts
  WHERE project_id = $1 AND (data LIKE $2 OR data LIKE $3)`);
/** Without a second OR branch, which would cost another index scan. */
const BY_TRIGRAMS_OF_ONE = countedPageOf(`
  SELECT instance_id, session_id, updated_at FROM session_texts
  WHERE project_id = $1 AND data LIKE $2 AND $3::text IS NULL`);

async function searchByTrigrams(search: Search): Promise<FoundRow[]> {
  const [text, other] = search.needles;
  const needles: Needles = [containing(text), other === null ? null : containing(other)];
  const sql = other === null ? BY_TRIGRAMS_OF_ONE : BY_TRIGRAMS;
  return await search.database.query<FoundRow>(sql, parametersOf({ ...search, needles }));
}

const BY_GRAMS = countedPageOf('SELECT * FROM find_by_grams($1, $10::bigint[], $11::bigint[], $2, $3, $12)');

async function searchByGrams(search: Search): Promise<FoundRow[]> {
  const { database, projectId, needles } = search;
  const [text, other] = needles;
  return await database.query<FoundRow>(BY_GRAMS, [
    ...parametersOf(search),
    searchedNgrams(projectId, text),
    other === null ? null : searchedNgrams(projectId, other),
    isCertain(needles),
  ]);
}

function toFound({ session_id: sessionId, data, created_at, updated_at }: FoundRow): FoundSession[] {
  if (sessionId === null || data === null) return [];
  const [createdAt, updatedAt] = [isoTime(created_at), isoTime(updated_at)];
  return [{ sessionId, data: JSON.parse(data), createdAt, updatedAt }];
}
