import {
  isShown,
  MAX_SESSION_CHARACTERS,
  type SessionMessage,
  shownMessage,
} from '../../../engine/session/session.ts';
import { storableJson } from '../sql/storable.ts';

/** The characters counted for each row in addition to its JSON. */
const ROW_CHARACTERS = 200;
/** Room for the last request, which may exceed the limit of a session, and its answer. */
const TURN_CHARACTERS = 2_000_000;
const MAX_MESSAGE_CHARACTERS = MAX_SESSION_CHARACTERS + TURN_CHARACTERS;
/** Room for more than 100 tool results of maximum length. */
const MAX_EVENT_CHARACTERS = 2_000_000;

/** Size of rows in a history. @param texts - Their JSON. */
export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length + ROW_CHARACTERS, 0);
}

/**
 * SQL assignments that add to the sizes of a history. Rows beyond a limit are counted but not stored. A call continues
 * when its history is full.
 *
 * @param messages - Parameter of {@link charactersOf} the messages.
 * @param events - The parameter with the size of the events, likewise.
 */
export function addSizes(messages: string, events: string): string {
  return `message_characters = least(message_characters + ${messages}::bigint, ${MOST}),
      event_characters = least(event_characters + ${events}::bigint, ${MOST})`;
}
const MOST = 1_000_000_000;

export const HAS_ROOM_FOR_MESSAGES = `message_characters <= ${MAX_MESSAGE_CHARACTERS}`;
const HAS_ROOM_FOR_EVENTS = `event_characters <= ${MAX_EVENT_CHARACTERS}`;

/** Select from a CTE `history`, which returns the sizes of {@link addSizes}, only histories that are not full. */
export const HISTORY_WITH_ROOM = {
  messages: `(SELECT instance_id, project_id FROM history WHERE ${HAS_ROOM_FOR_MESSAGES}) AS history`,
  events: `(SELECT instance_id FROM history WHERE ${HAS_ROOM_FOR_EVENTS}) AS history`,
};

/**
 * Inserts the event `history_full`, once, in the statement that exceeds a limit.
 *
 * @param at - Parameter of the time, `timestamptz`; the others are those of {@link addSizes}.
 */
export function insertFullEvent(messages: string, events: string, at: string): string {
  return `
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, 'error', ${at}::timestamptz, '${JSON.stringify(FULL)}'::json FROM history
    WHERE (NOT ${HAS_ROOM_FOR_MESSAGES} AND message_characters - ${messages}::bigint <= ${MAX_MESSAGE_CHARACTERS})
      OR (NOT ${HAS_ROOM_FOR_EVENTS} AND event_characters - ${events}::bigint <= ${MAX_EVENT_CHARACTERS})`;
}
const FULL = { code: 'history_full', message: 'The history is full: some of what follows is not kept' };

/** A message as the API shows it, as JSON; null when only turns read it. */
export function messageText(message: SessionMessage): string | null {
  return isShown(message) ? storableJson(shownMessage(message)) : null;
}

/** Parameters of messages: their JSON, their {@link messageText}s and latencies; `text[]`, `text[]`, `integer[]`. */
export type MessageColumns = readonly [messages: string, texts: string, latencies: string];

/**
 * Inserts messages of a transcript, in order.
 *
 * @param history - A query or CTE with the `instance_id` and `project_id`.
 */
export function insertMessages(history: string, columns: MessageColumns): string {
  return `${insertRows(history, columns, 'NULL::integer, message::json, text, latency_ms')}
    WHERE text IS NOT NULL ORDER BY place`;
}

/**
 * Inserts messages of a turn, in order. A full history has no room for them in the transcript.
 *
 * @param history - A CTE with the sizes of {@link addSizes}, the `project_id`, and the `messages_before` this turn.
 */
export function insertTurnMessages(history: string, columns: MessageColumns): string {
  const kept = (column: string) => `CASE WHEN ${HAS_ROOM_FOR_MESSAGES} THEN ${column} END`;
  const row = `messages_before + place - 1, message::json, ${kept('text')}, ${kept('latency_ms')}`;
  return `${insertRows(history, columns, row)} ORDER BY place`;
}

function insertRows(history: string, [messages, texts, latencies]: MessageColumns, row: string): string {
  return `
    INSERT INTO session_messages (instance_id, project_id, position, message, text, latency_ms)
    SELECT instance_id, project_id, ${row}
    FROM ${history}, unnest(${messages}::text[], ${texts}::text[], ${latencies}::integer[])
      WITH ORDINALITY AS said (message, text, latency_ms, place)`;
}

/**
 * Inserts events of the history, in order.
 *
 * @param history - A query or CTE with the `instance_id`.
 * @param columns - Parameters of the types, times and data: `text[]`, `timestamptz[]`, `text[]`.
 */
export function insertEvents(
  history: string,
  [types, times, data]: readonly [string, string, string],
): string {
  return `
    INSERT INTO session_events (instance_id, type, at, data)
    SELECT instance_id, type, at, data::json
    FROM ${history}, unnest(${types}::text[], ${times}::timestamptz[], ${data}::text[])
      WITH ORDINALITY AS happened (type, at, data, position)
    ORDER BY position`;
}
