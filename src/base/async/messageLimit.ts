import type { Clock } from '../values/clock.ts';

/** Audio in messages of 3 ms, as browsers record it, beside marks and digits. */
const MAX_MESSAGES_PER_SECOND = 500;
/** Audio of a minute in messages of 20 ms, which a carrier may send at once, is below. */
const MAX_BURST = 5000;
/** Speech of two minutes in messages of 6 ms, which a bot may send at once. */
const MAX_BURST_OF_BOTS = 20_000;
/** Words as they are recognized, or speech in chunks, many of which a vendor may send at once. */
const MAX_VENDOR_MESSAGES_PER_SECOND = 200;
const MAX_BURST_OF_VENDORS = 1000;
/** A larger message counts as several: reading costs by the byte. */
const COUNTED_BYTES = 16_384;
/**
 * A message with more values than this counts as several: a byte of values costs fifty times as much to parse as a byte
 * of base64 audio.
 */
const COUNTED_MARKS = 32;
/** The size up to which a message counts once. To count its values would make each audio frame more expensive. */
const SMALL_BYTES = 2048;
/** Each digit can start a turn, or a request to the other party of a call. A gateway sends at most ten a second. */
const MAX_DIGITS_PER_SECOND = 20;
const MAX_DIGIT_BURST = 200;
const LIMITS = {
  carrier: { perSecond: MAX_MESSAGES_PER_SECOND, burst: MAX_BURST },
  bot: { perSecond: MAX_MESSAGES_PER_SECOND, burst: MAX_BURST_OF_BOTS },
  vendor: { perSecond: MAX_VENDOR_MESSAGES_PER_SECOND, burst: MAX_BURST_OF_VENDORS },
};

export type Peer = keyof typeof LIMITS | 'ourOwn';

/**
 * A connection whose peer floods it is to be closed: one thread serves many calls. Our own processes are trusted.
 *
 * @returns A function to be called with each message. It returns true when the message may be read.
 */
export function limitMessages(clock: Clock, peer: Peer): (data: Buffer, isBinary: boolean) => boolean {
  if (peer === 'ourOwn') return () => true;
  const { perSecond, burst } = LIMITS[peer];
  const admit = tokenBucket(clock, perSecond, burst);
  // A vendor tells the times of many words in each message: their number has a limit of its own.
  const byBytesAlone = peer === 'vendor';
  return (data, isBinary) => admit(countedAs(data, isBinary || byBytesAlone));
}

/** @returns A function to be called with a number of digits. It returns true when they may be passed on. */
export function limitDigits(clock: Clock): (count?: number) => boolean {
  return tokenBucket(clock, MAX_DIGITS_PER_SECOND, MAX_DIGIT_BURST);
}

/** Returns the number of messages that one counts as. */
export function countedAs(data: Buffer, isBinary: boolean): number {
  if (data.length <= SMALL_BYTES) return 1;
  const byBytes = data.length / COUNTED_BYTES;
  return Math.ceil(Math.max(1, byBytes, isBinary ? 0 : countMarks(data) / COUNTED_MARKS));
}

/** The marks before values: `[`, `{`, `:` and `,`. */
export function countMarks(json: Buffer): number {
  let marks = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index];
    if (byte === 0x5b || byte === 0x7b || byte === 0x3a || byte === 0x2c) marks++;
  }
  return marks;
}

/** @returns A function that returns true when one more message, or the given number of them, is admitted now. */
export function tokenBucket(clock: Clock, perSecond: number, burst: number): (count?: number) => boolean {
  let left = burst;
  let filledAtMs = clock.monotonicMs();
  return (count = 1) => {
    const nowMs = clock.monotonicMs();
    left = Math.min(burst, left + ((nowMs - filledAtMs) * perSecond) / 1000);
    filledAtMs = nowMs;
    if (left < count) return false;
    left -= count;
    return true;
  };
}
