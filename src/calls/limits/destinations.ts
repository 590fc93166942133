import type { CallLimits } from '../../agents/accounts/callLimits.ts';
import { parseCarrierNumber } from '../numbers/number.ts';

type Rules = Pick<CallLimits, 'allowedPrefixes' | 'blockedPrefixes'>;

/** Digits of the shortest public number; fewer are an extension. @see normalNumber */
const SHORTEST_PUBLIC_NUMBER = 7;
/** `sip:user;parameters:password@host`; only the user says whom it reaches. @see RFC 3261 section 19.1.1 */
const SIP_USER = /^sips?:([^;:@?]*)[^@]*@/i;

/**
 * Whether a project may call a number, or send a call there.
 *
 * Of all prefixes that fit, the longest counts; of two that are the same, the one that blocks. What no prefix fits is
 * allowed, unless some are named that are.
 *
 * @param to - In normal form, or a SIP URI: then the number in it. One that seems to be a public number and cannot be
 *   read is refused as soon as there is any rule, and a name or an extension is what no prefix fits.
 */
export function isDestinationAllowed({ allowedPrefixes, blockedPrefixes }: Rules, to: string): boolean {
  if (allowedPrefixes.length === 0 && blockedPrefixes.length === 0) return true;
  const number = parseDestination(to);
  if (number === undefined && digitsIn(userOf(to) ?? '') >= SHORTEST_PUBLIC_NUMBER) return false;
  const longest = (prefixes: readonly string[]) =>
    Math.max(-1, ...prefixes.filter((prefix) => number?.startsWith(prefix)).map(({ length }) => length));
  const [allowed, blocked] = [longest(allowedPrefixes), longest(blockedPrefixes)];
  if (allowed === blocked) return allowed === -1 && allowedPrefixes.length === 0;
  return allowed > blocked;
}

/** The number that is called, in normal form; undefined where none can be read. @param to - A number, or a SIP URI. */
export function parseDestination(to: string): string | undefined {
  const user = userOf(to);
  return user === undefined ? undefined : parseCarrierNumber(user);
}

/** The number itself, or the user of a SIP URI; undefined where the URI names none. */
function userOf(to: string): string | undefined {
  if (!/^sips?:/i.test(to)) return to;
  const user = SIP_USER.exec(to)?.[1];
  if (user === undefined) return undefined;
  try {
    return decodeURIComponent(user);
  } catch {
    // A broken escape stands for itself.
    return user;
  }
}

const digitsIn = (text: string): number => text.replace(/\D/g, '').length;
