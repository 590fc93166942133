/** Detects speech in a stream of audio. */
export interface VoiceActivityDetection {
  /** @throws {RangeError} For a sample rate other than 8000, 16000 and 24000. */
  open(sampleRateHz: number): VoiceActivityDetector;
}

/** A detector for one stream, which adapts to the line's noise. */
export interface VoiceActivityDetector {
  /** @param frame - The samples of {@link VAD_FRAME_MS}. */
  isSpeech(frame: Int16Array): boolean;
  /**
   * Returns the duration, up to and including the newest frame, that the detector has just recognized as noise although
   * it may have reported speech; 0 when nothing changed. Undefined for a detector that never revises its results.
   */
  reclassifiedNoiseMs?(): number;
  /** Frees its memory; idempotent. */
  close(): void;
}

/** The duration of one frame. */
export const VAD_FRAME_MS = 20;
