import { FLITE_SAMPLE_RATE_HZ, synthesizeParts } from '../../../offline/synthesis/flite.ts';
import { startThread } from '../../base/threads/thread.ts';
import { ThreadPool } from '../../base/threads/threadPool.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type { FliteMethods } from './fliteThread.ts';

export { FLITE_SAMPLE_RATE_HZ };

const VOICES: ReadonlySet<string> = new Set(['rms', 'slt', 'kal16']);

/** A sentence takes 40 to 240 ms of one core, so that two threads serve about twenty concurrent calls. */
const DEFAULT_THREADS = 2;

export interface LocalSpeechOptions {
  /** The voice of requests without one, `rms` or `slt`. */
  readonly voice?: string | undefined;
  /** Most threads; each starts when it is first needed. */
  readonly threads?: number;
}

/** Creates a synthesizer for English that works offline. */
export function createLocalTextToSpeech(options: LocalSpeechOptions = {}): TextToSpeech {
  const pool = new ThreadPool<FliteMethods>({
    size: options.threads ?? DEFAULT_THREADS,
    startThread: () => startThread(new URL('./fliteThread.ts', import.meta.url)),
  });
  return {
    name: 'local',
    sampleRateHz: FLITE_SAMPLE_RATE_HZ,
    isCacheable: true,
    async *synthesize({ text, voice = options.voice, speed }, signal) {
      if (voice !== undefined && voice !== options.voice && !VOICES.has(voice))
        throw new ModelError(
          'model_rejected',
          `The local synthesizer has the voices ${[...VOICES].join(', ')}`,
        );
      let beforeFirstToken = true;
      try {
        const parts = synthesizeParts(text, { voice, speed }, (part) =>
          pool.run((thread) => thread.synthesize(part), signal),
        );
        for await (const samples of parts) {
          beforeFirstToken = false;
          yield samples;
        }
      } catch (cause) {
        signal.throwIfAborted();
        const message = 'Offline speech synthesis failed';
        throw new ModelError('model_unavailable', message, { beforeFirstToken, cause });
      }
    },
    close: () => pool.close(),
  };
}
