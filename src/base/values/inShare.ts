import { createHash } from 'node:crypto';

/**
 * Whether a name is among a share of all names: always the same answer, and yes for a larger share where it was for a
 * smaller one.
 *
 * @param percent - 0 to 100.
 */
export function isInShare(name: string, percent: number): boolean {
  const place = createHash('sha256').update(name).digest().readUInt32BE();
  return (place / 2 ** 32) * 100 < percent;
}
