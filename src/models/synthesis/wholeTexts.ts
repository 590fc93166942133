import type { SynthesisEvent } from '../ports/streamingTextToSpeech.ts';
import { type Synthesizer, takesWords } from '../ports/synthesizer.ts';
import type { TextToSpeech } from '../ports/textToSpeech.ts';

/**
 * A vendor for texts that are complete, even if it could speak while they are written: as a fallback of another one.
 */
export function forWholeTexts(vendor: Synthesizer): TextToSpeech {
  if (!takesWords(vendor)) return vendor;
  return {
    name: vendor.name,
    sampleRateHz: vendor.sampleRateHz,
    isCacheable: false,
    close: () => vendor.close(),
    async *synthesize({ text, ...voice }, signal) {
      signal.throwIfAborted();
      const events: SynthesisEvent[] = [];
      let wake: () => void = () => undefined;
      const connection = vendor.connect();
      const onAbort = () => wake();
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        const stream = connection.speak(voice, (event) => {
          events.push(event);
          wake();
        });
        stream.write(text);
        stream.end();
        for (;;) {
          signal.throwIfAborted();
          const event = events.shift();
          if (event?.type === 'samples') yield event.samples;
          if (event?.type === 'failed') throw event.error;
          if (event?.type === 'done') return;
          if (event) continue;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        connection.close();
      }
    },
  };
}
