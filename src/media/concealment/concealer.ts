import type { Codec } from '../codecs/codec.ts';

/** Packet loss concealment: fills the gaps of one stream. */
export interface Concealer {
  /** @param frame - Received speech, in order; changed in place where it must join concealed speech. */
  received(frame: Int16Array): void;
  /** Fills the frame with an estimate of the lost speech. */
  conceal(out: Int16Array): void;
}

/** Codecs conceal in steps of this length. */
const STEP_MS = 10;

/**
 * Conceals with the codec's own concealment, for any number of samples: the codec fills 10 ms at a time, and the rest of
 * a step is used first within the same loss.
 *
 * @returns Undefined for a codec without concealment.
 */
export function createCodecConcealer(codec: Codec): Concealer | undefined {
  if (codec.conceal === undefined) return undefined;
  const step = new Int16Array((codec.format.sampleRateHz * STEP_MS) / 1000);
  let used = step.length;
  return {
    received() {
      used = step.length;
    },
    conceal(out) {
      for (let n = 0; n < out.length; n++) {
        if (used === step.length) {
          codec.conceal?.(step);
          used = 0;
        }
        out[n] = step[used++] ?? 0;
      }
    },
  };
}
