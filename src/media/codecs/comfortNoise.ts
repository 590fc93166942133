/** 0 dBov: full scale of 16 bits. */
const OVERLOAD = 32_767;
/** Peak of uniformly distributed noise relative to its root mean square. */
const PEAK_TO_RMS = Math.sqrt(3);

/**
 * Level of a comfort noise payload; the spectrum after it is inaudible at these levels and not used.
 *
 * @returns dB below overload, 0..127; undefined when the payload is empty or its reserved bit is set.
 * @see RFC 3389 section 3.1
 */
export function parseComfortNoiseLevel(payload: Uint8Array): number | undefined {
  const level = payload[0];
  return level === undefined || level > 127 ? undefined : level;
}

/**
 * White noise for a caller's pauses. The same seed gives the same noise.
 *
 * @see RFC 3389 section 4
 */
export class ComfortNoise {
  #peak = 0;
  #state: number;

  /** @param seed - Any integer except 0. */
  constructor(seed: number) {
    this.#state = seed | 0 || 1;
  }

  /** @param levelDbBelowOverload - The level in the payload, 0..127. */
  setLevel(levelDbBelowOverload: number): void {
    const rms = OVERLOAD * 10 ** (-levelDbBelowOverload / 20);
    this.#peak = Math.min(OVERLOAD, rms * PEAK_TO_RMS);
  }

  fill(out: Int16Array): void {
    for (let i = 0; i < out.length; i++) out[i] = this.#next() * this.#peak;
  }

  /** Returns a uniformly distributed number in -1..1, by a 32-bit xorshift. */
  #next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state / 2 ** 31;
  }
}
