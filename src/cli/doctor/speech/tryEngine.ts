import type { Clock } from '../../../base/values/clock.ts';
import { ModelError } from '../../../models/ports/modelError.ts';
import type { SpeechToSpeech } from '../../../models/ports/speechToSpeech.ts';

const TIMEOUT_MS = 10_000;
/** The sample rate of a phone call. */
const SAMPLE_RATE_HZ = 8000;

export interface EngineTrial {
  /** The time from the first step of the connection to the first sample. */
  readonly firstAudioWithConnectionMs: number;
  readonly audioMs: number;
}

/** Makes a speech-to-speech model say a sentence. @throws {ModelError} */
export async function tryEngine(engine: SpeechToSpeech, text: string, clock: Clock): Promise<EngineTrial> {
  let close: () => void = () => undefined;
  try {
    return await new Promise((resolve, reject) => {
      const silent = () => new ModelError('model_unavailable', `${engine.name} has said nothing`);
      const timer = clock.setTimer(() => reject(silent()), TIMEOUT_MS);
      const startedMs = clock.monotonicMs();
      let firstAudioWithConnectionMs: number | undefined;
      let samples = 0;
      const connection = engine.connect({ sampleRateHz: SAMPLE_RATE_HZ }, (event) => {
        if (event.type === 'failed') reject(event.error);
        if (event.type === 'speech') {
          firstAudioWithConnectionMs ??= clock.monotonicMs() - startedMs;
          samples += event.samples.length;
        }
        if (event.type !== 'done') return;
        if (firstAudioWithConnectionMs === undefined) reject(silent());
        else resolve({ firstAudioWithConnectionMs, audioMs: (samples * 1000) / engine.sampleRateHz });
      });
      close = () => {
        timer.cancel();
        connection.close();
      };
      connection.answer({
        instructions: `Say exactly this, and nothing else: ${text}`,
        step: 'try',
        tools: [],
        withheldTools: [],
        messages: [],
        news: [],
      });
    });
  } finally {
    close();
  }
}
