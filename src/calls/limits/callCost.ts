import type { CallLimits } from '../../agents/accounts/callLimits.ts';
import { parseDestination } from './destinations.ts';

/** Of the money that a project's rates are in: counts of it are whole numbers of this. */
export const MILLIONTHS_PER_UNIT = 1_000_000;

const MS_PER_MINUTE = 60_000;

/**
 * What talking with a number costs, by the longest prefix that fits it; nothing where none does.
 *
 * @param to - A number, or a SIP URI: then the number in it. One that cannot be read is what the prefix `+` stands for.
 * @returns In millionths, whole.
 */
export function callCostMillionths(rates: CallLimits['rates'], to: string, talkedMs: number): number {
  const number = parseDestination(to);
  const fitting = rates.filter(({ prefix }) => prefix === '+' || number?.startsWith(prefix));
  const [nearest] = fitting.sort((one, other) => other.prefix.length - one.prefix.length);
  return Math.round(((nearest?.perMinute ?? 0) * MILLIONTHS_PER_UNIT * talkedMs) / MS_PER_MINUTE);
}
