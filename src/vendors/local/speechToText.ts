import {
  createPocketsphinx,
  PocketsphinxNotInstalledError,
} from '../../../offline/recognition/pocketsphinx.ts';
import { RecognizerBusyError } from '../../../offline/recognition/recognizerPool.ts';
import { RECOGNIZER_SAMPLE_RATE_HZ } from '../../../offline/recognition/utterance.ts';
import { startProcess } from '../../base/threads/childProcess.ts';
import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { SpeechToText } from '../../models/ports/speechToText.ts';
import { createRnnoiseSuppression } from '../rnnoise/rnnoiseSuppression.ts';
import { NoiseRemoval } from './noiseRemoval.ts';

export { findPocketsphinx, INSTALL_COMMAND } from '../../../offline/recognition/installation.ts';

/** The share of the noise around an answer that is kept. @see `npm run bench:recognition` */
const KEPT_NOISE = 0.15;
/** The rate at which wideband audio is recognized too, since all measurements were made with it. */
const TELEPHONE_RATE_HZ = 8000;
/** The length up to which a chunk is resampled at once; longer ones are resampled in pieces. */
const RESAMPLED_SECONDS = 1;

/**
 * Offline speech recognition for English. Where PocketSphinx is not installed, `finalize` rejects with the command that
 * installs it; DTMF digits and silence still work.
 *
 * @param searchPath - Folders of programs, as in `PATH`.
 */
export function createLocalSpeechToText({ searchPath }: { readonly searchPath: string }): SpeechToText {
  const pocketsphinx = createPocketsphinx(searchPath, startProcess);
  const suppression = createRnnoiseSuppression(KEPT_NOISE);
  return {
    name: 'local',
    openStream({ sampleRateHz, expectedAnswers, onInterim }) {
      if (!isSampleRate(sampleRateHz)) throw new RangeError(`no resampler for ${sampleRateHz} Hz`);
      const narrowed = resamplerOf(sampleRateHz, TELEPHONE_RATE_HZ);
      const widened = resamplerOf(TELEPHONE_RATE_HZ, RECOGNIZER_SAMPLE_RATE_HZ);
      const utterance = pocketsphinx.open({
        isNarrowband: true,
        expectedAnswers,
      });
      const removal = new NoiseRemoval(suppression, TELEPHONE_RATE_HZ, (frame) => {
        for (const piece of widened(frame)) utterance.push(piece);
      });
      return {
        push(samples) {
          for (const piece of narrowed(samples)) removal.push(piece);
        },
        async finalize(signal, isInterim) {
          try {
            await removal.settled;
            const text = await (isInterim ? utterance.interim(signal) : utterance.finalize(signal));
            if (!isInterim) onInterim?.(text);
            return { text };
          } catch (error) {
            signal.throwIfAborted();
            throw toModelError(error);
          }
        },
        close() {
          removal.close();
          utterance.close();
        },
      };
    },
    close: () => pocketsphinx.close(),
  };
}

/** @returns Resamples one chunk; each piece is valid until the next one is read. */
function resamplerOf(
  fromHz: SampleRateHz,
  toHz: SampleRateHz,
): (samples: Int16Array) => Iterable<Int16Array> {
  const maxInput = fromHz * RESAMPLED_SECONDS;
  const resampler = createResampler(fromHz, toHz, maxInput);
  const output = new Int16Array(resampler.maxOutput(maxInput));
  return function* (samples) {
    for (let start = 0; start < samples.length; start += maxInput) {
      const count = resampler.process(samples.subarray(start, start + maxInput), output);
      yield output.subarray(0, count);
    }
  };
}

function toModelError(cause: unknown): ModelError {
  const options = { beforeFirstToken: true, cause };
  if (cause instanceof PocketsphinxNotInstalledError)
    return new ModelError('model_rejected', `Offline speech recognition failed: ${cause.message}`, options);
  const reason = cause instanceof RecognizerBusyError ? `: ${cause.message}` : '';
  return new ModelError('model_unavailable', `Offline speech recognition failed${reason}`, options);
}
