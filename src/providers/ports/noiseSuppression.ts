/** Removes noise from speech. */
export interface NoiseSuppression {
  /** Loads its model with the first stream. @throws {RangeError} For a sample rate other than 8000, 16000 and 24000. */
  open(sampleRateHz: number): Promise<NoiseSuppressor>;
}

/** One stream's, which adapts to its noise. */
export interface NoiseSuppressor {
  /**
   * @param frame - Samples of 20 ms, in order.
   * @returns As many, about 30 ms later; valid until the next call.
   */
  process(frame: Int16Array): Int16Array;
  /** Frees its memory; idempotent. */
  close(): void;
}
