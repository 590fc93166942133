import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const RANDOM_BYTES = 16;
/** Asking the system for random bytes costs far more than an id; so it is asked for those of many at once. */
const POOL_BYTES = 256 * RANDOM_BYTES;
/** The bytes of an id's share that its sequence begins from; the sequence takes the bits in their place. */
const SEQUENCE_OFFSET = 6;
/**
 * Makes UUIDs of version 7: their first 48 bits are the time, so that rows made together lie together in an index. Each
 * sorts after the one before it, within one millisecond and when the clock is set back too.
 *
 * @see RFC 9562 sections 5.7 and 6.2 (method 1)
 */
export function createUuidV7(now = Date.now) {
  const pool = Buffer.alloc(POOL_BYTES);
  const random = new Uint8Array(RANDOM_BYTES);
  let used = POOL_BYTES;
  let msecs = Number.NEGATIVE_INFINITY;
  let seq = 0;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    // For so few bytes that is far cheaper than a view of them.
    for (let index = 0; index < RANDOM_BYTES; index += 1) random[index] = pool[used + index] ?? 0;
    used += RANDOM_BYTES;
    const nowMs = now();
    if (nowMs > msecs) {
      msecs = nowMs;
      // Half of the numbers are left to count up by.
      seq = pool.readUInt32BE(used - RANDOM_BYTES + SEQUENCE_OFFSET) >>> 1;
    } else {
      seq = (seq + 1) >>> 0;
      if (seq === 0) msecs += 1;
    }
    return v7({ random, msecs, seq });
  };
}
export const uuidV7 = createUuidV7();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether a text that a user sent can be one of our ids at all. */
export function isUuid(text) {
  return UUID.test(text);
}
