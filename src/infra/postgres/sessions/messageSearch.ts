import type { Database, Queryable } from '../connection/database.ts';
import { containing } from '../sql/like.ts';
import { sizeBatches } from '../sql/sizeBatches.ts';

/** Sessions that are listed at once, which takes the embedded database about 10 ms. */
const LISTED_SESSIONS = 1_000;
/** The number of sampled sessions, which one statement reads. The sample shows whether the index is selective. */
const SAMPLED_SESSIONS = 300;
/**
 * The share of sampled sessions up to which the index is used. A text that more sessions may contain has too many hits
 * for one statement.
 */
const SELECTIVE_SHARE = 0.01;
/** Letters as most locales know them; in others some texts have no trigrams. */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** A query of the sessions in which something was said. */
export interface Said {
  /** The LIKE pattern. */
  readonly pattern: string;
  /** Returns a query whose first parameter is the project. @param pattern - The parameter of the pattern. */
  query(pattern: string): string;
}

/**
 * Prepares a query of the sessions in which a text was said. Messages that are not indexed are read before, in statements
 * of bounded size. Their sessions are no parameters of the query, since those of a list tell its cursors apart.
 */
export async function instancesSaying(
  database: Queryable,
  projectId: string,
  text: string | undefined,
): Promise<Said | undefined> {
  if (text === undefined) return undefined;
  const { query } = database;
  const pattern = containing(text);
  const index = await chooseIndex(database, projectId, text);
  const found: string[] = [];
  const search = async (sessions: readonly SizedSession[]) => {
    for (const batch of sizeBatches(sessions)) found.push(...(await sessionsSaying(query, batch, [pattern])));
  };
  if (index !== noIndex) await search(await query<SizedSession>(UNINDEXED, [projectId]));
  else for await (const sessions of allSessions(query, projectId)) await search(sessions);
  return {
    pattern,
    query: (place) => `
      WITH said AS MATERIALIZED (${index(place)} UNION ALL SELECT unnest('{${found.join()}}'::uuid[]))
      SELECT instance_id FROM said`,
  };
}

/** @returns A query of the sessions, by the pattern's parameter. */
async function chooseIndex(
  { query, sharesSession }: Queryable,
  projectId: string,
  text: string,
): Promise<Said['query']> {
  if (sharesSession) return (await isSelective(query, projectId, text)) ? byIndex : noIndex;
  return HAS_TRIGRAM.test(text) ? byIndex : bySession;
}

const byIndex = (place: string): string => `SELECT find_sessions_saying($1, ${place}) AS instance_id`;

/**
 * Searches each session's messages. Without trigrams the whole index would be read; OFFSET 0 makes Postgres read each
 * session by its id.
 */
const bySession = (place: string): string => `
  SELECT instance_id FROM session_history AS session WHERE project_id = $1 AND EXISTS (
    SELECT FROM session_messages AS message
    WHERE message.instance_id = session.instance_id AND content ILIKE ${place} OFFSET 0
  )`;

/** Where all messages are read. The pattern is still a parameter, which tells the cursors of lists apart. */
const noIndex = (place: string): string => `SELECT NULL::uuid AS instance_id WHERE ${place}::text IS NULL`;

/**
 * Returns true when the index leaves few messages of the project to read: in a random sample, few messages have all
 * trigrams of the text, whose order the index does not know. Which other characters form trigrams depends on the
 * database's locale.
 */
async function isSelective(query: Database['query'], projectId: string, text: string): Promise<boolean> {
  const trigrams = [...text.toLowerCase().matchAll(/(?=([a-z0-9]{3}))/g)].map(([, trigram = '']) => trigram);
  if (trigrams.length === 0) return false;
  const [sample = []] = sizeBatches(await query<SizedSession>(SAMPLE, [projectId, SAMPLED_SESSIONS]));
  const patterns = [...new Set(trigrams)].map(containing);
  return (await sessionsSaying(query, sample, patterns)).length <= SELECTIVE_SHARE * sample.length;
}

async function* allSessions(query: Database['query'], projectId: string): AsyncGenerator<SizedSession[]> {
  let last: ListedSession | undefined;
  do {
    const sessions: ListedSession[] = await query<ListedSession>(ALL, [
      projectId,
      last?.started_at ?? 'infinity',
      last?.instance_id ?? null,
      LISTED_SESSIONS,
    ]);
    yield sessions;
    last = sessions.at(-1);
  } while (last);
}

/** @param patterns - The LIKE patterns; a message must match all. */
async function sessionsSaying(
  query: Database['query'],
  sessions: readonly SizedSession[],
  patterns: readonly string[],
): Promise<string[]> {
  const ids = sessions.map(({ instance_id }) => instance_id);
  const rows = await query<Pick<SizedSession, 'instance_id'>>(SAYING, [ids, patterns]);
  return rows.map(({ instance_id }) => instance_id);
}

interface SizedSession {
  instance_id: string;
  characters: number;
}

interface ListedSession extends SizedSession {
  /** The time as text, since a Date has no microseconds. */
  started_at: string;
}

const SIZED = 'instance_id, message_characters AS characters';

const UNINDEXED = `
  SELECT ${SIZED} FROM session_history WHERE project_id = $1 AND index_after IS NOT NULL`;

const SAMPLE = `SELECT ${SIZED} FROM session_history WHERE project_id = $1 ORDER BY random() LIMIT $2`;

const ALL = `
  SELECT ${SIZED}, started_at::text FROM session_history
  WHERE project_id = $1 AND (started_at, instance_id) < ($2::timestamptz, $3::uuid)
  ORDER BY started_at DESC, instance_id DESC LIMIT $4`;

/** OFFSET 0 has each session's messages read by its id, up to the first one that matches. */
const SAYING = `
  SELECT id AS instance_id FROM unnest($1::uuid[]) AS asked (id)
  WHERE EXISTS (
    SELECT FROM session_messages
    WHERE instance_id = asked.id AND coalesce(content, message->>'content') ILIKE ALL ($2::text[]) OFFSET 0
  )`;
