import type { Clock } from '../../base/values/clock.ts';
import { WrittenText } from '../../conversation/speech/writtenText.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import { concatenated } from '../../media/pcm16.ts';
import type { SessionSynthesis } from './callSpeech.ts';

/** What the caller hears when this node fails. */
export interface FailoverTexts {
  /** The text that is said while another node takes over. */
  readonly waiting: string;
  /** The text that is said when no node takes over. */
  readonly apology: string;
  readonly language: string;
}

export interface FailoverPromptDeps {
  readonly stream: AudioStream;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/** The greeting is synthesized before prompts that are rarely needed. */
const DELAY_MS = 2000;

/**
 * Sends failover prompts in the agent's voice to the peer, which cannot synthesize speech, for the case that this
 * process fails.
 *
 * @param texts - Called once, when the prompts are synthesized.
 * @returns Cancels it; idempotent.
 */
export function sendFailoverPrompts(
  deps: FailoverPromptDeps,
  texts: () => Promise<FailoverTexts & SessionSynthesis>,
): () => void {
  const { stream, clock, onError } = deps;
  const abort = new AbortController();
  const send = async () => {
    const { waiting, apology, language, synthesis, streamedSynthesis } = await texts();
    const speak = async (text: string) => {
      const pieces: Int16Array[] = [];
      const onSamples = (samples: Int16Array) => void pieces.push(samples);
      if (streamedSynthesis)
        await streamedSynthesis.speak(new WrittenText(text, true), { language }, abort.signal, {
          onSamples,
          onWords: () => undefined,
        });
      else await synthesis.speak({ text, language }, abort.signal, onSamples);
      return concatenated(pieces);
    };
    stream.setFailoverPrompts({ waiting: await speak(waiting), apology: await speak(apology) });
  };
  const timer = clock.setTimer(() => {
    send().catch((error: unknown) => {
      if (!abort.signal.aborted) onError(error, 'failover prompts failed');
    });
  }, DELAY_MS);
  return () => {
    timer.cancel();
    abort.abort(new Error('the stream is closed'));
  };
}
