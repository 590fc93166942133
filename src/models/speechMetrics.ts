import type { Clock } from '../base/values/clock.ts';
import type { ProviderMetrics } from './ports/metrics.ts';
import { ModelError } from './ports/modelError.ts';
import type { StreamingTextToSpeech } from './ports/streamingTextToSpeech.ts';
import type { TextToSpeech } from './ports/textToSpeech.ts';

/** A text that is cancelled without a sound after this long was given up. */
const SLOW_MS = 1000;

/** Measures the wait for the first samples of each text, and counts errors. */
export function withSynthesisMetrics(
  textToSpeech: TextToSpeech,
  metrics: ProviderMetrics,
  clock: Clock,
): TextToSpeech {
  const { name, sampleRateHz, isCacheable } = textToSpeech;
  return {
    name,
    sampleRateHz,
    isCacheable,
    close: () => textToSpeech.close(),
    async *synthesize(request, signal) {
      const startedMs = clock.monotonicMs();
      let isFirst = true;
      try {
        for await (const samples of textToSpeech.synthesize(request, signal)) {
          if (isFirst) metrics.recordFirstOutput(clock.monotonicMs() - startedMs);
          isFirst = false;
          yield samples;
        }
      } catch (error) {
        recordError(metrics, error);
        throw error;
      }
    },
  };
}

/** The same for texts that are spoken while they are written: the wait counts from their first words. */
export function withStreamedSynthesisMetrics(
  textToSpeech: StreamingTextToSpeech,
  metrics: ProviderMetrics,
  clock: Clock,
): StreamingTextToSpeech {
  return {
    ...textToSpeech,
    connect(preparedFor) {
      const connection = textToSpeech.connect(preparedFor);
      return {
        close: () => connection.close(),
        speak(voice, onEvent) {
          let writtenAtMs: number | undefined;
          let isWaiting = true;
          const stream = connection.speak(voice, (event) => {
            if (event.type === 'samples' && isWaiting && writtenAtMs !== undefined) {
              isWaiting = false;
              metrics.recordFirstOutput(clock.monotonicMs() - writtenAtMs);
            }
            if (event.type === 'failed') metrics.recordError(event.error);
            if (event.type === 'failed' || event.type === 'done') isWaiting = false;
            onEvent(event);
          });
          return {
            write(text) {
              writtenAtMs ??= clock.monotonicMs();
              stream.write(text);
            },
            end: () => stream.end(),
            pause: () => stream.pause(),
            resume: () => stream.resume(),
            cancel() {
              stream.cancel();
              const waitedMs = clock.monotonicMs() - (writtenAtMs ?? Number.POSITIVE_INFINITY);
              if (isWaiting && waitedMs >= SLOW_MS)
                metrics.recordError(
                  new ModelError('model_unavailable', `${textToSpeech.name} does not speak`),
                );
              isWaiting = false;
            },
          };
        },
      };
    },
  };
}

/** The reason of an abort is not a ModelError. */
function recordError(metrics: ProviderMetrics, error: unknown): void {
  if (error instanceof ModelError) metrics.recordError(error);
}
