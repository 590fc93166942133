/** Of the loudest sample in its frame: what is softer is what the voice dies away in, or the line's noise. */
const OF_FRAME = 4;
/** Of the loudest sample in the utterance: a frame of less is no voice, whatever the detector says. */
const OF_UTTERANCE = 16;

/** Knows to the sample where a caller's voice ends, which detectors tell only by frames. */
export interface SpeechEnd {
  /** The next voiced frame of the utterance, with its end on the stream's clock. */
  hear(frame: Int16Array, atMs: number): void;
  /** End of the last sample that was voice; undefined before there was any. */
  readonly atMs: number | undefined;
  /** Another utterance may be softer. */
  forget(): void;
}

export function createSpeechEnd(sampleRateHz: number): SpeechEnd {
  let peak = 0;
  let endMs: number | undefined;
  return {
    hear(frame, atMs) {
      let loudest = 0;
      for (const sample of frame) loudest = Math.max(loudest, Math.abs(sample));
      peak = Math.max(peak, loudest);
      const least = Math.max(loudest / OF_FRAME, peak / OF_UTTERANCE);
      const last = frame.findLastIndex((sample) => Math.abs(sample) >= least);
      if (last >= 0) endMs = atMs - ((frame.length - 1 - last) * 1000) / sampleRateHz;
    },
    get atMs() {
      return endMs;
    },
    forget() {
      peak = 0;
      endMs = undefined;
    },
  };
}
