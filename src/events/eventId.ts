/** The id of a kept event, as `1773480413589-0`; behind a point an interim one after it. */
const EVENT_ID = /^(\d{1,15}-\d{1,15})(?:\.\d{1,20})?$/;

/** @returns The id of the last kept event; undefined for another text. */
export function placeOf(eventId: string): string | undefined {
  return EVENT_ID.exec(eventId)?.[1];
}

/** Compares by time, then by count. @param first - An id, also without what follows the point, as `second`. */
export function compareEventIds(first: string, second: string): number {
  const [ms = 0, count = 0] = first.split('-').map(Number);
  const [otherMs = 0, otherCount = 0] = second.split('-').map(Number);
  return ms - otherMs || count - otherCount;
}
