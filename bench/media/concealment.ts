import { PitchConcealer } from '../../src/media/concealment/pitchConcealer.ts';
import { createRandom, segmentalSnrDb, voiced } from '../../test/media/signals.ts';

const RATE_HZ = 8000;
const FRAME = RATE_HZ / 50;
const SECONDS = 60;
const SEED = 2026;
/** The concealer holds speech back by this much. */
const DELAY = 0.003_75 * RATE_HZ;

/** Segmental SNR of the frames that were lost and of those after them, with silence in the holes and with concealment, dB. */
export function measureConcealment(lossRatio: number): {
  readonly silence: number;
  readonly concealed: number;
} {
  const speech = voiced(RATE_HZ, SECONDS * RATE_HZ);
  const random = createRandom(SEED);
  const concealer = new PitchConcealer(RATE_HZ);
  const [silence, concealed] = [speech.slice(), new Int16Array(speech.length)];
  const isTouched = new Uint8Array(speech.length + FRAME);
  for (let at = 0; at < speech.length; at += FRAME) {
    const out = concealed.subarray(at, at + FRAME);
    if (random() < lossRatio) {
      silence.fill(0, at, at + FRAME);
      isTouched.fill(1, at, at + 2 * FRAME);
      concealer.conceal(out);
    } else {
      out.set(speech.subarray(at, at + FRAME));
      concealer.received(out);
    }
  }
  const touched = (_: number, n: number) => isTouched[n] === 1;
  const said = speech.filter(touched);
  return {
    silence: segmentalSnrDb(said, silence.filter(touched), FRAME),
    concealed: segmentalSnrDb(said, concealed.subarray(DELAY).filter(touched), FRAME),
  };
}
