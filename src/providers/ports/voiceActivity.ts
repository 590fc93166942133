/** Tells speech from everything else on a line. */
export interface VoiceActivityDetection {
  /** @throws {RangeError} For a rate that it does not know; 8000, 16000 and 24000 it does. */
  open(sampleRateHz: number): VoiceActivityDetector;
}

/** One stream's detector; it learns the line's noise as it goes. */
export interface VoiceActivityDetector {
  /** @param frame - 20 ms. */
  isSpeech(frame: Int16Array): boolean;
  /**
   * How much of what came last, the newest frame included, it has just come to know for noise, whatever it said of it;
   * 0 where there is nothing new. Absent where it never thinks better of it.
   */
  reclassifiedNoiseMs?(): number;
  /** Gives its memory back; idempotent. */
  close(): void;
}

/** What a detector looks at in one go. */
export const VAD_FRAME_MS = 20;
