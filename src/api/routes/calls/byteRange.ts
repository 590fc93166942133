import type { ByteRange } from '../../../calls/recording/recordingStore.ts';

const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/;

/**
 * Reads a Range header. What is malformed, or asks for several parts, is passed over, as the standard allows: the answer
 * is then the whole.
 *
 * @see RFC 9110 section 14.2
 */
export function parseRange(header: string | undefined): ByteRange | undefined {
  const [, first, last, suffix] = ONE_RANGE.exec(header ?? '') ?? [];
  if (suffix !== undefined) return { suffixLength: Number(suffix) };
  if (first === undefined) return undefined;
  if (last === undefined || last === '') return { first: Number(first) };
  return Number(last) < Number(first) ? undefined : { first: Number(first), last: Number(last) };
}
