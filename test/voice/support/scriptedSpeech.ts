import type { SampleRateHz } from '../../../src/media/resample/resampler.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { SpeechToText } from '../../../src/models/ports/speechToText.ts';
import type { TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../../src/models/ports/voiceActivity.ts';

const LOUD = 1000;
/** Duration of each word of a scripted voice. */
export const WORD_MS = 300;
const HALF_WAVE_MS = 7;

/** Takes every loud frame for speech. */
export const loudActivity: VoiceActivityDetection = {
  open: () => ({ isSpeech: (frame) => frame.some((sample) => sample >= LOUD), close: () => undefined }),
};

/** Encodes a caller's words in the level of their samples, and is the recognizer that decodes them. */
export interface ScriptedCaller extends SpeechToText {
  /** Samples of a text; an empty text is noise. */
  say(text: string, durationMs: number): Int16Array;
  readonly hints: (readonly string[])[];
  /** Makes the next transcriptions fail. */
  fail: Error | undefined;
  /** Delays transcripts by this many turns of the event loop. */
  delayTurns: number;
  /** Reports an interim transcript of the open utterance. */
  hearInterim(text: string): void;
}

export function scriptedCaller(sampleRateHz = 8000): ScriptedCaller {
  const texts: string[] = [];
  let reportInterim: ((text: string) => void) | undefined;
  const caller: ScriptedCaller = {
    name: 'scripted',
    hints: [],
    fail: undefined,
    delayTurns: 0,
    say(text, durationMs) {
      texts.push(text);
      return new Int16Array((sampleRateHz * durationMs) / 1000).fill(LOUD + texts.length);
    },
    hearInterim: (text) => reportInterim?.(text),
    openStream({ expectedAnswers = [], onInterim }) {
      reportInterim = onInterim;
      caller.hints.push(expectedAnswers);
      const heard = new Set<number>();
      return {
        push(samples) {
          for (const sample of samples) if (sample >= LOUD) heard.add(sample - LOUD - 1);
        },
        async finalize(signal) {
          for (let n = 0; n < caller.delayTurns; n++) await new Promise((resolve) => setImmediate(resolve));
          signal.throwIfAborted();
          if (caller.fail) throw caller.fail;
          const text = [...heard].map((index) => texts[index] ?? '').join(' ');
          return { text: text.trim() };
        },
        close: () => undefined,
      };
    },
    close: async () => undefined,
  };
  return caller;
}

export interface ScriptedVoice extends TextToSpeech {
  readonly texts: string[];
  /** Number of the next texts that fail before their first sample. */
  failures: number;
}

/** A voice that speaks each word for 300 ms, in pieces of 100 ms. */
export function scriptedVoice(sampleRateHz: SampleRateHz = 8000, loudness = 5000): ScriptedVoice {
  // Does not correlate with the caller's constant samples, which are thus not taken for an echo.
  const halfWave = (sampleRateHz * HALF_WAVE_MS) / 1000;
  const hum = new Int16Array(sampleRateHz / 10).map((_, at) =>
    Math.floor(at / halfWave) % 2 === 0 ? loudness : -loudness,
  );
  const voice: ScriptedVoice = {
    name: `scripted-${loudness}`,
    sampleRateHz,
    isCacheable: true,
    texts: [],
    failures: 0,
    async *synthesize({ text }, signal) {
      voice.texts.push(text);
      if (voice.failures > 0) {
        voice.failures -= 1;
        throw new ModelError('model_unavailable', 'The voice is down', { beforeFirstToken: true });
      }
      const pieces = (text.split(/\s+/).length * WORD_MS) / 100;
      for (let n = 0; n < pieces; n++) {
        await Promise.resolve();
        signal.throwIfAborted();
        yield hum.slice();
      }
    },
    close: async () => undefined,
  };
  return voice;
}
