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
