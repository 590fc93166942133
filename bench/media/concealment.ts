import { PitchConcealer } from '../../src/media/concealment/pitchConcealer.ts';
import { createRandom, segmentalSnrDb, voiced } from '../../test/media/support/signals.ts';

const RATE_HZ = 8000;
const FRAME = RATE_HZ / 50;
const SECONDS = 60;
const SEED = 2026;
/** Delay of the concealer. */
const DELAY = 0.003_75 * RATE_HZ;

/**
 * Segmental SNR with silence in the gaps and with concealment, in dB. A segment is a lost frame and the next one, which
 * contains the splice; all others are equal.
 */
export function measureConcealment(lossRatio: number): {
  readonly silence: number;
  readonly concealed: number;
} {
  const speech = voiced(RATE_HZ, SECONDS * RATE_HZ);
  const random = createRandom(SEED);
  const concealer = new PitchConcealer(RATE_HZ);
  const [silence, concealed] = [speech.slice(), new Int16Array(speech.length)];
  const hits: number[] = [];
  for (let at = 0; at < speech.length; at += FRAME) {
    const out = concealed.subarray(at, at + FRAME);
    if (at < speech.length - 3 * FRAME && random() < lossRatio) {
      silence.fill(0, at, at + FRAME);
      hits.push(at);
      concealer.conceal(out);
    } else {
      out.set(speech.subarray(at, at + FRAME));
      concealer.received(out);
    }
  }
  const around = (signal: Int16Array, shift: number) =>
    Int16Array.from(hits.flatMap((at) => [...signal.subarray(at + shift, at + shift + 2 * FRAME)]));
  const said = around(speech, 0);
  return {
    silence: segmentalSnrDb(said, around(silence, 0), 2 * FRAME),
    concealed: segmentalSnrDb(said, around(concealed, DELAY), 2 * FRAME),
  };
}
