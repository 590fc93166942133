/** Softer samples than this share of the frame's peak are the voice's decay, or line noise. */
const FRAME_PEAK_DIVISOR = 4;
/** A frame softer than this share of the utterance's peak is not voice, whatever the detector says. */
const UTTERANCE_PEAK_DIVISOR = 16;

/** Locates the end of the caller's speech to the sample; detectors tell it only to the frame. */
export interface SpeechEnd {
  /** Takes the utterance's next voiced frame, with its end on the stream's clock. */
  push(frame: Int16Array, atMs: number): void;
  /** End of the last voiced sample; undefined before the first one. */
  readonly atMs: number | undefined;
  /** Starts over: the next utterance may be softer. */
  reset(): void;
}

export function createSpeechEnd(sampleRateHz: number): SpeechEnd {
  let utterancePeak = 0;
  let endMs: number | undefined;
  return {
    push(frame, atMs) {
      let framePeak = 0;
      for (const sample of frame) framePeak = Math.max(framePeak, Math.abs(sample));
      utterancePeak = Math.max(utterancePeak, framePeak);
      const threshold = Math.max(framePeak / FRAME_PEAK_DIVISOR, utterancePeak / UTTERANCE_PEAK_DIVISOR);
      const last = frame.findLastIndex((sample) => Math.abs(sample) >= threshold);
      if (last >= 0) endMs = atMs - ((frame.length - 1 - last) * 1000) / sampleRateHz;
    },
    get atMs() {
      return endMs;
    },
    reset() {
      utterancePeak = 0;
      endMs = undefined;
    },
  };
}
