/** Removes noise from speech. */
export interface NoiseSuppression {
  /** Loads its model with the first stream. @throws {RangeError} For a sample rate other than 8000, 16000 and 24000. */
  open(sampleRateHz: number): Promise<NoiseSuppressor>;
}

/** Suppresses the noise of one stream, to which it adapts. */
export interface NoiseSuppressor {
  /**
   * @param frame - Samples of 20 ms, in order.
   * @returns The same number of samples, delayed by about 30 ms; valid until the next call.
   */
  process(frame: Int16Array): Int16Array;
  /** Frees its memory; idempotent. */
  close(): void;
}
