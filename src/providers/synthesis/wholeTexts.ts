import type { StreamingTextToSpeech, SynthesisEvent } from '../ports/streamingTextToSpeech.ts';
import type { TextToSpeech } from '../ports/textToSpeech.ts';

/** A vendor that speaks while a text is written, for texts that are complete: as a fallback of another one. */
export function forWholeTexts(vendor: StreamingTextToSpeech): TextToSpeech {
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
