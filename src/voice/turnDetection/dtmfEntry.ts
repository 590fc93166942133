/** The digits entered so far. */
export interface DtmfEntry {
  readonly digits: string;
  /** Of the last digit, on the stream's clock. */
  readonly lastMs: number;
}

/** `entry` is undefined while no digits are being entered; `complete` holds the digits once they are complete. */
export type DtmfEntryStep = { readonly entry: DtmfEntry | undefined; readonly complete?: string };

export const INTER_DIGIT_TIMEOUT_MS = 2500;
const MAX_DIGITS = 32;

/**
 * Collects DTMF digits into entries. An entry is complete when it leads on from the current node and no longer one
 * does, with `#`, or at its maximum length. `#` is not part of an entry unless it stands alone or an edge names it.
 *
 * @param edgeDigits - The entries that lead on from the current node.
 */
export function enterDigit(
  entry: DtmfEntry | undefined,
  digit: string,
  atMs: number,
  edgeDigits: readonly string[],
): DtmfEntryStep {
  const digits = (entry?.digits ?? '') + digit;
  const hasEdge = edgeDigits.includes(digits);
  const mayGrow = edgeDigits.some((edge) => edge.length > digits.length && edge.startsWith(digits));
  if (hasEdge && !mayGrow) return { entry: undefined, complete: digits };
  if (digit === '#' && !mayGrow) return { entry: undefined, complete: digits.slice(0, -1) || '#' };
  if (digits.length >= MAX_DIGITS) return { entry: undefined, complete: digits };
  return { entry: { digits, lastMs: atMs } };
}

/** Completes the entry after the inter-digit timeout. */
export function checkDigitTimeout(entry: DtmfEntry | undefined, atMs: number): DtmfEntryStep {
  if (!entry || atMs - entry.lastMs < INTER_DIGIT_TIMEOUT_MS) return { entry };
  return { entry: undefined, complete: entry.digits };
}
