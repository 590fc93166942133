/** A timestamp as the drivers give it, in the form that the API shows. */
export function isoTime(value) {
  return new Date(value).toISOString();
}
export function isoTimeOrNull(value) {
  return value === null ? null : isoTime(value);
}
/**
 * One part of a list, and the count of all of it.
 *
 * @param select - A whole SELECT with its order, without LIMIT.
 */
export async function queryPage(database, select, parameters, page) {
  const next = parameters.length + 1;
  const items = await database.query(`${select} LIMIT $${next} OFFSET $${next + 1}`, [
    ...parameters,
    page.limit,
    page.offset,
  ]);
  // A part that is neither full nor empty ends the list, which tells the count without asking.
  if (items.length > 0 && items.length < page.limit) return { items, total: page.offset + items.length };
  const [count] = await database.query(
    `SELECT count(*)::integer AS total FROM (${select}) AS everything`,
    parameters,
  );
  return { items, total: count?.total ?? 0 };
}
export function mapPage(page, map) {
  return { items: page.items.map(map), total: page.total };
}
