/** Keys so far; undefined while none was pressed. */
export interface DtmfEntry {
  readonly digits: string;
  /** Of the last key, on the stream's clock. */
  readonly lastMs: number;
}

export type DtmfEntryStep = { readonly state: DtmfEntry | undefined; readonly complete?: string };

/** Who is slower has finished. */
export const INTER_DIGIT_MS = 2500;
const LONGEST_DIGITS = 32;

/**
 * Collects keys to what they mean together: until `#`, which is not part of it unless it stands alone or a way on from
 * here names it; until no way on could still need another; or until the caller is done pressing.
 *
 * @param ways - Keys that lead on from here.
 */
export function enterDigit(
  state: DtmfEntry | undefined,
  digit: string,
  atMs: number,
  ways: readonly string[],
): DtmfEntryStep {
  const digits = (state?.digits ?? '') + digit;
  const isNamed = ways.includes(digits);
  const mayGrow = ways.some((way) => way.length > digits.length && way.startsWith(digits));
  if (isNamed && !mayGrow) return { state: undefined, complete: digits };
  if (digit === '#' && !mayGrow) return { state: undefined, complete: digits.slice(0, -1) || '#' };
  if (digits.length >= LONGEST_DIGITS) return { state: undefined, complete: digits };
  return { state: { digits, lastMs: atMs } };
}

/** Time passes. */
export function waitForDigits(state: DtmfEntry | undefined, atMs: number): DtmfEntryStep {
  if (!state || atMs - state.lastMs < INTER_DIGIT_MS) return { state };
  return { state: undefined, complete: state.digits };
}
