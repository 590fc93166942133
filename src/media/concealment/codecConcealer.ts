import type { Codec } from '../codecs/codec.ts';
import type { Concealer } from './concealer.ts';

/** Codecs conceal in whole steps of this length. */
const STEP_MS = 10;

/**
 * Conceals with what the codec itself has, for any number of samples: it is asked for 10 ms at a time, and what is
 * left of them is used first the next time within the same loss.
 *
 * @returns Undefined for a codec without concealment of its own.
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
