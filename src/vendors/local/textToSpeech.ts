import { createFlite, FLITE_SAMPLE_RATE_HZ, type FliteOptions } from '../../../offline/synthesis/flite.ts';
import { startThread } from '../../base/threads/thread.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';

export { FLITE_SAMPLE_RATE_HZ };

const VOICES: ReadonlySet<string> = new Set(['rms', 'slt', 'kal16']);

/** Creates a synthesizer for English that works offline. */
export function createLocalTextToSpeech(options: Omit<FliteOptions, 'startThread'> = {}): TextToSpeech {
  const flite = createFlite({ ...options, startThread });
  return {
    name: 'local',
    sampleRateHz: FLITE_SAMPLE_RATE_HZ,
    isCacheable: true,
    async *synthesize({ text, voice, speed }, signal) {
      if (voice !== undefined && !VOICES.has(voice))
        throw new ModelError(
          'model_rejected',
          `The local synthesizer has the voices ${[...VOICES].join(', ')}`,
        );
      let beforeFirstToken = true;
      try {
        for await (const samples of flite.synthesize(text, signal, { voice, speed })) {
          beforeFirstToken = false;
          yield samples;
        }
      } catch (cause) {
        signal.throwIfAborted();
        const message = 'Offline speech synthesis failed';
        throw new ModelError('model_unavailable', message, { beforeFirstToken, cause });
      }
    },
    close: () => flite.close(),
  };
}
