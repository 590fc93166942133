import { DEFAULT_CHAT_IDLE_MINUTES, DEFAULT_SESSION_IDLE_MINUTES } from '../../../agents/accounts/project.ts';
import { CallwayError, invalid } from '../../../base/errors.ts';
import type {
  HistoryEvent,
  IdleSession,
  Session,
  SessionMessage,
  SessionState,
} from '../../../engine/session/session.ts';
import { sessionData } from '../../../engine/session/session.ts';
import type { SessionEnding, SessionStore, TurnHistory } from '../../../engine/session/sessionStore.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { priceSession } from '../results/sessionCosts.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';
import {
  addSizes,
  charactersOf,
  HAS_ROOM_FOR_MESSAGES,
  HISTORY_WITH_ROOM,
  insertEvents,
  insertFullEvent,
  insertMessages,
  insertTurnMessages,
  messageText,
} from './historyRows.ts';
import { searchSessions } from './sessionSearch.ts';

/** A session as its row has it: its messages, of which the state has none here, are in `session_messages`. */
type Stored = Omit<Session, 'state' | 'digest' | 'characters'> & {
  readonly state: StoredState;
  readonly digest: string | null;
  readonly messageCharacters: number;
  /** The messages of the turn's window; null when there are none. */
  readonly messages: readonly SessionMessage[] | null;
};

type StoredState = Omit<SessionState, 'messages'>;

const COLUMNS = `project_id, session_id, instance_id, channel, provider, call_id, pathway_id, release_id, turn, state,
  started_at, last_activity_at, release`;

const FIND = `
  SELECT ${COLUMNS}, digest,
    (SELECT message_characters FROM session_history WHERE instance_id = sessions.instance_id), CASE WHEN message_count > 0 THEN (
    SELECT json_agg(message ORDER BY position) FROM session_messages
    WHERE session_messages.instance_id = sessions.instance_id
      AND position >= coalesce((state->>'messagesBefore')::integer, 0)
  ) END AS messages
  FROM sessions WHERE project_id = $1 AND session_id = $2`;

/** Each method is one statement: one transaction and one round trip. */
export function sessionStore(database: Queryable): SessionStore {
  const find = async (projectId: string, sessionId: string): Promise<Session | undefined> => {
    const [row] = await database.query<object>(FIND, [projectId, sessionId], 'find_session');
    return row && fromRow(row);
  };

  return {
    find,
    async messagesBefore({ instanceId, state }) {
      const rows = await database.query<{ message: SessionMessage }>(
        `SELECT message FROM session_messages
         WHERE instance_id = $1 AND position < $2 AND message->'internal' IS NULL ORDER BY position`,
        [instanceId, state.messagesBefore ?? 0],
      );
      return rows.map(({ message }) => message);
    },
    async findByDigest(projectId, digests, except) {
      const [found] = await database.query<{ session_id: string }>(
        FIND_BY_DIGEST,
        [projectId, digests, except],
        'find_session_by_digest',
      );
      return found?.session_id;
    },
    async insert(session, started) {
      const [inserted] = await database.query(INSERT, sessionParameters(session, started), 'insert_session');
      if (inserted) return;
      throw invalid('session_id_in_use', `The session id ${session.sessionId} is in use by a live session`);
    },
    async saveTurn(session, record) {
      const [saved] = await database.query(SAVE_TURN, turnParameters(session, record), 'save_turn');
      if (saved) return;
      throw new CallwayError('conflict', 'session_changed', 'The session has ended or changed meanwhile');
    },
    async appendLateTurn(session, record) {
      await database.query(APPEND_LATE_TURN, lateParameters(session, record));
      await priceSession(database, session.instanceId);
    },
    async end(projectId, sessionId, ending) {
      // What is due is determined before anything is locked: the embedded database runs one transaction at a time.
      for (let live = await find(projectId, sessionId); live; live = await find(projectId, sessionId)) {
        const due = await ending(live);
        if (!due) return undefined;
        const [ended] = await database.query(END, endParameters(live, due));
        if (ended) return live;
      }
      return undefined;
    },
    search: (projectId, text, page) => searchSessions(database, projectId, text, page),
    async idle(now, limit, after) {
      const rows = await database.query<object>(
        `SELECT project_id, session_id, instance_id, turn FROM sessions JOIN projects ON projects.id = project_id
         WHERE channel <> 'phone' AND last_activity_at < $1::timestamptz - make_interval(mins => coalesce(
           idle_minutes, session_idle_minutes, CASE channel WHEN 'chat' THEN $3::integer ELSE $4 END
         )) AND ($5::uuid IS NULL OR instance_id > $5) ORDER BY instance_id LIMIT $2`,
        [now, limit, DEFAULT_CHAT_IDLE_MINUTES, DEFAULT_SESSION_IDLE_MINUTES, after?.instanceId ?? null],
      );
      return rows.map(fieldsOf<IdleSession>);
    },
  };
}

/**
 * Parts of a `WITH` that insert a session, with {@link sessionParameters}; `session` has a row when it was inserted.
 */
export const INSERT_SESSION = `
  session AS (
    INSERT INTO sessions (${COLUMNS}, updated_at, idle_minutes, data)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11, $12, $18, $12, $16, $17)
    ON CONFLICT (project_id, session_id) DO NOTHING RETURNING *
  ), history AS (
    INSERT INTO session_history
      (instance_id, project_id, session_id, channel, provider, call_id, release, status, started_at, is_test)
    SELECT instance_id, project_id, session_id, channel, provider, call_id, release, 'active', started_at, data IS NULL
    FROM session
  ), event AS (
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, $13, $14::timestamptz, $15::json FROM session
  )`;

const INSERT = `WITH ${INSERT_SESSION} SELECT instance_id FROM session`;

const FIND_BY_DIGEST = `
  SELECT session_id FROM sessions
  WHERE project_id = $1 AND digest = ANY ($2::text[]) AND channel = 'chat' AND session_id <> ALL ($3::text[])
  ORDER BY array_position($2::text[], digest), last_activity_at DESC LIMIT 1`;

/**
 * Writes as much at the conversation's thousandth message as at its tenth. Once the history is full, the session has the
 * messages that turns read, and no older ones.
 */
const SAVE_TURN = `
  WITH saved AS (
    UPDATE sessions SET turn = $4, state = $5::json, data = $17, last_activity_at = $6, digest = $14,
      message_count = message_count + cardinality($7::text[]),
      updated_at = greatest($6, updated_at + interval '1 millisecond')
    WHERE project_id = $1 AND session_id = $2 AND instance_id = $3 AND turn = $4 - 1
    RETURNING instance_id, message_count - cardinality($7::text[]) AS messages_before
  ), history AS (
    UPDATE session_history AS history
    SET message_count = message_count + cardinality(array_remove($8::text[], NULL)), turns = turns + $9,
      ${addSizes('$15', '$16')}
    FROM saved WHERE history.instance_id = saved.instance_id
    RETURNING history.instance_id, project_id, messages_before, message_characters, event_characters
  ), forgotten AS (
    DELETE FROM session_messages USING history
    WHERE session_messages.instance_id = history.instance_id AND NOT ${HAS_ROOM_FOR_MESSAGES}
      AND text IS NULL AND position < ($5::json->>'messagesBefore')::integer
  ), messages AS (${insertTurnMessages('history', ['$7', '$8', '$13'])}
  ), events AS (${insertEvents(HISTORY_WITH_ROOM.events, ['$10', '$11', '$12'])}
  ), filled AS (${insertFullEvent('$15', '$16', '$6')}
  )
  SELECT instance_id FROM saved`;

/** A turn that an earlier attempt inserted, whose response was lost, keeps its time. */
const APPEND_LATE_TURN = `
  WITH history AS (
    UPDATE session_history AS history
    SET message_count = message_count + cardinality(array_remove($11::text[], NULL)), turns = turns + $5,
      variables = $2::json, usage = sum_of_amounts(usage, $12::json), ${addSizes('$9', '$10')}
    WHERE instance_id = $1 AND NOT EXISTS (
      SELECT FROM session_messages WHERE instance_id = $1 AND message::text = ANY ($3::text[])
    ) AND NOT EXISTS (
      SELECT FROM session_events WHERE instance_id = $1
        AND (type, at, data::text) IN (SELECT * FROM unnest($6::text[], $7::timestamptz[], $8::text[]))
    )
    RETURNING instance_id, project_id, message_characters, event_characters
  ), messages AS (${insertMessages(HISTORY_WITH_ROOM.messages, ['$3', '$11', '$4'])}
  )${insertEvents(HISTORY_WITH_ROOM.events, ['$6', '$7', '$8'])}`;

/** Keeps the latencies of a history that is not kept, until they are counted. */
const END = `
  WITH ended AS (
    DELETE FROM sessions WHERE project_id = $1 AND session_id = $2 AND instance_id = $3 AND turn = $10 RETURNING *
  ), history AS (
    UPDATE session_history AS history
    SET status = 'ended', ended_at = $4, end_reason = $5, language = $14, variables = ended.state->'variables',
      usage = sum_of_amounts(history.usage, ended.state->'usage'),
      review_rules = (SELECT review_rules FROM projects WHERE id = ended.project_id)
    FROM ended WHERE history.instance_id = ended.instance_id
  ), unkept AS (
    SELECT instance_id FROM ended JOIN projects ON projects.id = ended.project_id
    WHERE NOT $12 AND ended.data IS NOT NULL AND history_retention_days = 0
  ), forgotten AS (
    DELETE FROM session_messages USING ended
    WHERE session_messages.instance_id = ended.instance_id
      AND (text IS NULL OR latency_ms IS NULL AND EXISTS (SELECT FROM unkept))
  ), measured AS (
    UPDATE session_messages SET text = NULL, message = json_build_object(
      'latencyParts', message->'latencyParts', 'latencyDetails', message->'latencyDetails')
    FROM unkept WHERE session_messages.instance_id = unkept.instance_id AND text IS NOT NULL AND latency_ms IS NOT NULL
  ), event AS (
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, 'session_ended', $4::timestamptz, 
      json_build_object('reason', $5::text, 'missingVariables', to_json($11::text[])) FROM ended
  ), outbox AS (
    INSERT INTO webhook_outbox
      (instance_id, project_id, release_id, finalize_by, evaluating, skipped_analysis, tasks_at, next_at)
    SELECT instance_id, project_id, release_id, $6, $7, $13::json, $4::timestamptz, $4::timestamptz FROM ended
    WHERE cardinality($8::text[]) > 0 RETURNING instance_id
  ), events AS (
    INSERT INTO webhook_events (instance_id, position, event, subscribed, status, attempt)
    SELECT instance_id, position, event, event = ANY ($9::text[]), 'waiting', 0
    FROM outbox, unnest($8::text[]) WITH ORDINALITY AS expected (event, position)
  )
  SELECT instance_id FROM ended`;

export function sessionParameters(session: Session, started: HistoryEvent): Parameter[] {
  return [
    session.projectId,
    session.sessionId,
    session.instanceId,
    session.channel,
    session.provider,
    session.callId,
    session.pathwayId,
    session.releaseId,
    session.turn,
    storableJson(storedState(session.state)),
    session.startedAt,
    session.lastActivityAt,
    started.type,
    started.at,
    storableJson(started.data),
    session.idleMinutes ?? null,
    dataText(session),
    session.release,
  ];
}

function turnParameters(session: Session, record: TurnHistory): Parameter[] {
  const { messages, texts, latencies, turns, types, times, data, sizes } = recordColumns(record);
  return [
    session.projectId,
    session.sessionId,
    session.instanceId,
    session.turn,
    storableJson(storedState(session.state)),
    session.lastActivityAt,
    messages,
    texts,
    turns,
    types,
    times,
    data,
    latencies,
    session.digest ?? null,
    ...sizes,
    dataText(session),
  ];
}

function lateParameters({ instanceId, state }: Session, record: TurnHistory): Parameter[] {
  const { messages, texts, latencies, turns, types, times, data, sizes } = recordColumns(record);
  const variables = storableJson(state.variables);
  const used = storableJson(record.used ?? {});
  return [instanceId, variables, messages, latencies, turns, types, times, data, ...sizes, texts, used];
}

function storedState({ messages, ...state }: SessionState): StoredState {
  return state;
}

/** The data of a session as JSON text, with a line break in place of its messages; null for a test's. */
export function dataText(session: Session): string | null {
  if (session.state.test) return null;
  const { variables, messages, ...others } = sessionData({
    ...session,
    state: { ...session.state, messages: [] },
  });
  return `{"variables":${storableJson(variables)},"messages":[\n],${storableJson(others).slice(1)}`;
}

/** The columns of a turn's history. */
export function recordColumns({ messages, events }: TurnHistory) {
  const json = messages.map(storableJson);
  const texts = messages.map(messageText);
  const data = events.map(({ data }) => storableJson(data));
  return {
    messages: json,
    texts,
    latencies: messages.map(({ latencyMs }, index) =>
      latencyMs === undefined || texts[index] === null ? null : Math.round(latencyMs),
    ),
    turns: messages.length > 0 ? 1 : 0,
    types: events.map(({ type }) => type),
    times: events.map(({ at }) => at),
    data,
    sizes: [charactersOf(json.filter((_, index) => texts[index] !== null)), charactersOf(data)],
  };
}

function endParameters(session: Session, ending: SessionEnding): Parameter[] {
  return [
    session.projectId,
    session.sessionId,
    session.instanceId,
    ending.at,
    ending.reason,
    ending.finalizeBy,
    ending.evaluating,
    ending.expected,
    ending.subscribed,
    session.turn,
    ending.missingVariables,
    ending.readsMessages,
    ending.skippedAnalysis && storableJson(ending.skippedAnalysis),
    ending.language,
  ];
}

function fromRow(row: object): Session {
  const { state, messages, digest, messageCharacters, ...session } = fieldsOf<Stored>(row);
  return {
    ...session,
    state: { ...state, messages: messages ?? [] },
    digest: digest ?? undefined,
    characters: messageCharacters === 0 ? undefined : messageCharacters,
  };
}
