import type { Clock } from '../../base/clock.ts';
import type { AudioStream } from '../audioStream.ts';
import type { SpeechSynthesis } from './speechSynthesis.ts';

/** What is to be said in the engine's place once it is gone. */
export interface FailoverPromptTexts {
  /** While another engine is sought. */
  readonly waiting: string;
  /** When none was found. */
  readonly apology: string;
  readonly language: string;
}

export interface FailoverPromptDeps {
  readonly stream: Pick<AudioStream, 'setFailoverPrompts'>;
  readonly source: SpeechSynthesis;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** The greeting is made before anything that may never be needed. */
const AFTER_MS = 2000;

/**
 * Leaves words with the other side of a stream, in the agent's voice, for the case that this process dies: the side
 * with the phone can make none.
 *
 * @param texts - Asked for once, when the words are made.
 * @returns Gives it up; idempotent.
 */
export function sendFailoverPrompt(
  deps: FailoverPromptDeps,
  texts: () => Promise<FailoverPromptTexts>,
): () => void {
  const { stream, source, clock, onError } = deps;
  const ending = new AbortController();
  const leave = async () => {
    const { waiting, apology, language } = await texts();
    const say = (text: string) => speechOf(source, text, language, ending.signal);
    stream.setFailoverPrompts({ waiting: await say(waiting), apology: await say(apology) });
  };
  const timer = clock.setTimer(() => {
    leave().catch((error: unknown) => {
      if (!ending.signal.aborted) onError(error, 'no words were left for the case that this node dies');
    });
  }, AFTER_MS);
  return () => {
    timer.cancel();
    ending.abort(new Error('the stream is closed'));
  };
}

async function speechOf(source: SpeechSynthesis, text: string, language: string, signal: AbortSignal) {
  const pieces: Int16Array[] = [];
  for await (const samples of source.speak({ text, language }, signal)) pieces.push(samples);
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
