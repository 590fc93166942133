import { MAX_SESSION_CHARACTERS } from '../../../engine/session/session.ts';

/** What a row costs a reader beside its text. */
const ROW_CHARACTERS = 200;
/** What one request and its answer may add to a chat that is not full. */
const TURN_CHARACTERS = 2_000_000;
const MAX_MESSAGE_CHARACTERS = MAX_SESSION_CHARACTERS + TURN_CHARACTERS;
/** More than a hundred results of tools that are as long as they may be. */
const MAX_EVENT_CHARACTERS = 2_000_000;

/** How much rows count in the size of a history. @param texts - Their JSON. */
export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length + ROW_CHARACTERS, 0);
}

/**
 * Assignments that add to the sizes of a history. What exceeds a limit is counted and not kept, so that a history is
 * read whole without holding up others; a call never ends for it.
 *
 * @param messages - Parameter of {@link charactersOf} the messages.
 * @param events - The same of the events.
 */
export function addSizes(messages: string, events: string): string {
  return `message_characters = least(message_characters + ${messages}::bigint, ${MOST}),
      event_characters = least(event_characters + ${events}::bigint, ${MOST})`;
}
const MOST = 1_000_000_000;

export const HAS_ROOM_FOR_MESSAGES = `message_characters <= ${MAX_MESSAGE_CHARACTERS}`;
const HAS_ROOM_FOR_EVENTS = `event_characters <= ${MAX_EVENT_CHARACTERS}`;

/** A CTE `history` that returns the sizes of {@link addSizes}, where messages or events are still kept. */
export const HISTORY_WITH_ROOM = {
  messages: `(SELECT instance_id FROM history WHERE ${HAS_ROOM_FOR_MESSAGES}) AS history`,
  events: `(SELECT instance_id FROM history WHERE ${HAS_ROOM_FOR_EVENTS}) AS history`,
};

/**
 * Inserts the event that says that the history is full, with the turn that fills it.
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

/**
 * Inserts messages of the history, in order.
 *
 * @param history - A query or CTE with the `instance_id`.
 * @param messages - Parameter of the messages' texts, `text[]`.
 * @param latencies - Parameter of their latencies in milliseconds, `integer[]`.
 */
export function insertMessages(history: string, messages: string, latencies: string): string {
  return `
    INSERT INTO session_messages (instance_id, message, latency_ms)
    SELECT instance_id, message::json, latency_ms
    FROM ${history}, unnest(${messages}::text[], ${latencies}::integer[])
      WITH ORDINALITY AS said (message, latency_ms, position)
    ORDER BY position`;
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
