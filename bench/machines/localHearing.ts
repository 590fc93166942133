import { setTimeout as sleep } from 'node:timers/promises';
import type { SpeechToText } from '../../src/models/ports/speechToText.ts';
import type { SimulatedClock } from '../../test/support/simulatedClock.ts';
import type { Hearing } from './play.ts';

/** From the request of a transcript to it. */
const TRANSCRIPT_MS = 600;
/** The recognizer's processes keep no event loop alive. */
const TIMEOUT_MS = 30_000;

/** A recognizer of the real world on a simulated clock, which waits for it: each transcript takes the same time. */
export function localHearing(local: SpeechToText, clock: SimulatedClock): Hearing {
  const pending = new Set<Promise<unknown>>();
  const recognizer: SpeechToText = {
    name: 'local',
    openStream({ onInterim: _, ...options }) {
      const stream = local.openStream(options);
      let close: () => void = () => undefined;
      const closed = new Promise<void>((resolve) => {
        close = resolve;
      });
      return {
        push: (samples) => stream.push(samples),
        async finalize(signal) {
          const heard = stream.finalize(signal);
          // What belongs to a closed utterance need not settle.
          const asked = Promise.race([heard, closed]);
          pending.add(asked);
          const transcript = await heard.finally(() => pending.delete(asked));
          await new Promise<void>((resolve) => clock.setTimer(resolve, TRANSCRIPT_MS));
          signal.throwIfAborted();
          return transcript;
        },
        close() {
          close();
          stream.close();
        },
      };
    },
    close: async () => undefined,
  };
  return {
    recognizer,
    async settled() {
      if (pending.size === 0) return;
      const timeout = new AbortController();
      const late = sleep(TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(pending), late]);
      timeout.abort();
    },
  };
}
