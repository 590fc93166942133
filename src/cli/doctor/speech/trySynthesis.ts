import type { Clock } from '../../../base/values/clock.ts';
import { ModelError } from '../../../models/ports/modelError.ts';
import type { SynthesisConnection } from '../../../models/ports/streamingTextToSpeech.ts';
import { type Synthesizer, takesWords } from '../../../models/ports/synthesizer.ts';
import type { TextToSpeech } from '../../../models/ports/textToSpeech.ts';

const TIMEOUT_MS = 10_000;

export interface SynthesisTrial {
  /** The time from the first word to the first sample, over a connection that is open. */
  readonly firstAudioMs: number;
  /** The same for the first text of a call. */
  readonly firstAudioWithConnectionMs: number;
  readonly audioMs: number;
}

/** Synthesizes a text twice. @throws {ModelError} */
export async function trySynthesis(
  synthesizer: Synthesizer,
  text: string,
  clock: Clock,
): Promise<SynthesisTrial> {
  const connection = takesWords(synthesizer) ? synthesizer.connect({ language: 'en' }) : undefined;
  const speak = takesWords(synthesizer)
    ? () => speakWords(synthesizer.name, connection, text, clock)
    : () => speakWhole(synthesizer, text, clock);
  try {
    const first = await speak();
    const second = await speak();
    const audioMs = Math.round((second.samples * 1000) / synthesizer.sampleRateHz);
    return { firstAudioMs: second.waitedMs, firstAudioWithConnectionMs: first.waitedMs, audioMs };
  } finally {
    connection?.close();
  }
}

interface Spoken {
  readonly waitedMs: number;
  readonly samples: number;
}

async function speakWhole(synthesizer: TextToSpeech, text: string, clock: Clock): Promise<Spoken> {
  const startedMs = clock.monotonicMs();
  let waitedMs: number | undefined;
  let count = 0;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  for await (const samples of synthesizer.synthesize({ text, language: 'en' }, signal)) {
    waitedMs ??= clock.monotonicMs() - startedMs;
    count += samples.length;
  }
  if (waitedMs === undefined) throw silent(synthesizer.name);
  return { waitedMs, samples: count };
}

function speakWords(
  name: string,
  connection: SynthesisConnection | undefined,
  text: string,
  clock: Clock,
): Promise<Spoken> {
  return new Promise((resolve, reject) => {
    const startedMs = clock.monotonicMs();
    let waitedMs: number | undefined;
    let count = 0;
    const timer = clock.setTimer(() => {
      stream?.cancel();
      reject(silent(name));
    }, TIMEOUT_MS);
    const stream = connection?.speak({ language: 'en' }, (event) => {
      if (event.type === 'samples') {
        waitedMs ??= clock.monotonicMs() - startedMs;
        count += event.samples.length;
      }
      if (event.type !== 'done' && event.type !== 'failed') return;
      timer.cancel();
      if (event.type === 'failed') reject(event.error);
      else if (waitedMs === undefined) reject(silent(name));
      else resolve({ waitedMs, samples: count });
    });
    stream?.write(text);
    stream?.end();
  });
}

function silent(name: string): ModelError {
  return new ModelError('model_unavailable', `${name} has said nothing`);
}
