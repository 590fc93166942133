/** The range has no byte of the recording. @see RFC 9110 section 15.5.17 */
export class RangeNotSatisfiable extends Error {
  totalBytes;
  constructor(totalBytes) {
    super(`the range lies outside of ${totalBytes} bytes`);
    this.name = 'RangeNotSatisfiable';
    this.totalBytes = totalBytes;
  }
}
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const MAX_KEY_LENGTH = 200;
/** @throws {RangeError} For a key that could leave the store: `..`, a leading `/`, an empty part. */
export function requireKey(key) {
  if (!KEY.test(key) || key.length > MAX_KEY_LENGTH) {
    throw new RangeError(`${JSON.stringify(key)} is no recording's key`);
  }
}
/**
 * Where a range lies in a recording of this length.
 *
 * @throws {RangeNotSatisfiable}
 * @see RFC 9110 section 14.1.2
 */
export function placeRange(range, totalBytes) {
  const end = totalBytes - 1;
  if (range === undefined) return { first: 0, last: end };
  const isSuffix = 'suffixLength' in range;
  const first = isSuffix ? Math.max(0, totalBytes - range.suffixLength) : range.first;
  const last = isSuffix ? end : Math.min(end, range.last ?? end);
  if (first > last) throw new RangeNotSatisfiable(totalBytes);
  return { first, last };
}
