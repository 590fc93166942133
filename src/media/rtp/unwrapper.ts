/**
 * Extends numbers that wrap to numbers that never wrap, so that they compare with `<`.
 *
 * @see RFC 3550 appendix A.1
 */
export interface Unwrapper {
  /**
   * @param value - The value on the wire, 0..2^bits-1.
   * @returns Extended number; the first call returns its input. A step of half the range or more is backwards. Negative
   *   when the first packets are reordered.
   * @throws {RangeError} When the input is not an integer in range.
   */
  unwrap(value: number): number;
  /** The next call returns its input again. */
  reset(): void;
}

/** Creates an unwrapper for RTP sequence numbers, 16 bits. */
export function createSequenceUnwrapper(): Unwrapper {
  return createUnwrapper(2 ** 16);
}

/** Creates an unwrapper for RTP timestamps, 32 bits. */
export function createTimestampUnwrapper(): Unwrapper {
  return createUnwrapper(2 ** 32);
}

function createUnwrapper(range: number): Unwrapper {
  let last: number | undefined;
  return {
    unwrap(value) {
      if (!Number.isInteger(value) || value < 0 || value >= range) {
        throw new RangeError(`${value} is not an integer in 0..${range - 1}`);
      }
      last = last === undefined ? value : last + signedStep(value, last, range);
      return last;
    },
    reset() {
      last = undefined;
    },
  };
}

/** The shorter step from `last` to `value`. */
function signedStep(value: number, last: number, range: number): number {
  const forward = (((value - last) % range) + range) % range;
  return forward < range / 2 ? forward : forward - range;
}
