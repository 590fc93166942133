import { linkAbort } from '../../base/async/linkedAbort.ts';
import type { Clock } from '../../base/values/clock.ts';
import { isSpoken } from '../../conversation/speech/editedText.ts';
import { createSentenceSplitter } from '../../conversation/speech/sentenceSplitter.ts';
import { spokenRequest, startsLineAt } from '../../conversation/speech/spokenText.ts';
import type { WrittenText } from '../../conversation/speech/writtenText.ts';
import { isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import type { Breakers } from '../../models/failover/circuitBreaker.ts';
import { type Candidate, Failover, type OnFallback } from '../../models/failover/failover.ts';
import { asModelError } from '../../models/ports/modelError.ts';
import type { StreamingTextToSpeech, SynthesisConnection } from '../../models/ports/streamingTextToSpeech.ts';
import type { Synthesizer } from '../../models/ports/synthesizer.ts';
import type { AgentVoice, TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type { SpeechSynthesis } from './speechSynthesis.ts';
import { type SpeechSink, StreamedText } from './streamedText.ts';

export interface StreamedSynthesisDeps {
  readonly voice: Candidate<StreamingTextToSpeech>;
  /** The voices of `rest`, which says what the vendor does not. */
  readonly others: readonly Candidate<TextToSpeech>[];
  /** Speaks sentence by sentence. */
  readonly rest: SpeechSynthesis;
  /** How the first text is spoken, as far as it is known: the connection is made for it. */
  readonly firstVoice?: AgentVoice | undefined;
  readonly clock: Clock;
  readonly breakers?: Breakers | undefined;
  readonly onFallback?: OnFallback<Synthesizer> | undefined;
  /** A text goes on with another voice. */
  readonly onFailure: (error: unknown) => void;
}

/** Speaks texts while they are written, over one call's connection to a vendor. */
export class StreamedSynthesis {
  readonly #deps: StreamedSynthesisDeps;
  readonly #sampleRateHz: SampleRateHz;
  readonly #connection: SynthesisConnection;

  /** @throws {RangeError} When speech cannot be resampled to this rate. */
  constructor(deps: StreamedSynthesisDeps, sampleRateHz: number) {
    if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be resampled to ${sampleRateHz} Hz`);
    this.#deps = deps;
    this.#sampleRateHz = sampleRateHz;
    this.#connection = deps.voice.model.connect(deps.firstVoice);
  }

  /**
   * Speaks one text to its end. Where the vendor fails, the other voices say what was not said yet.
   *
   * @throws {ModelError} When they fail too; the signal's reason once it is aborted.
   */
  async speak(text: WrittenText, voice: AgentVoice, signal: AbortSignal, sink: SpeechSink): Promise<void> {
    const { voice: candidate, others, clock, breakers, onFallback, onFailure } = this.#deps;
    const deps = { textToSpeech: candidate.model, clock };
    const attempt = new StreamedText(deps, this.#sampleRateHz, text, voice, sink);
    const candidates = [candidate, ...others];
    // The attempt has its own timeouts, which depend on what is played.
    const failover = new Failover<Synthesizer>(candidates, {
      clock,
      breakers,
      onFallback,
      onLate: () => undefined,
    });
    if (failover.current === candidate) {
      const failed = await attempt.run(this.#connection, signal);
      if (!failed) {
        failover.succeeded();
        return;
      }
      onFailure(failed);
      failover.fail(asModelError(failed));
    }
    sink.onFallback?.(attempt.spokenCharacters);
    await this.#speakRest(text, attempt.spokenCharacters, voice, signal, sink);
  }

  close(): void {
    this.#connection.close();
  }

  async #speakRest(
    text: WrittenText,
    spokenCharacters: number,
    voice: AgentVoice,
    signal: AbortSignal,
    { onSamples }: SpeechSink,
  ): Promise<void> {
    // Another vendor has other voices.
    const ownVoice = { ...voice, voice: undefined, model: undefined };
    const splitter = createSentenceSplitter();
    let from = spokenCharacters;
    let startsLine = startsLineAt(text.text, from);
    for (;;) {
      const pieces = splitter.push(text.text.slice(from));
      from = text.text.length;
      const { isComplete } = text;
      if (isComplete) pieces.push(...splitter.flush());
      for (const piece of pieces) {
        const request = spokenRequest(piece, ownVoice, startsLine);
        startsLine = startsLineAt(piece, piece.length);
        if (isSpoken(request.text)) await this.#deps.rest.speak(request, signal, onSamples);
      }
      if (isComplete && from === text.text.length) return;
      await changed(text, from, signal);
    }
  }
}

/** Waits until the text grows beyond a length, or is complete. @throws The signal's reason. */
async function changed(text: WrittenText, length: number, signal: AbortSignal): Promise<void> {
  const abort = linkAbort(signal);
  try {
    await new Promise<void>((resolve) => {
      abort.signal.addEventListener('abort', () => resolve());
      if (abort.signal.aborted) resolve();
      text.follow(() => {
        if (text.text.length > length || text.isComplete) resolve();
      });
    });
    signal.throwIfAborted();
  } finally {
    abort.unlink();
  }
}
