import type { UsageTally } from '../../agents/cost/usage.ts';
import { isDefaultSpeech, type SpeechConfig } from '../../agents/speech/speechConfig.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type Candidate, Failover, type OnFallback } from '../../models/failover/failover.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { Recognizer } from '../../models/ports/recognizer.ts';
import { type Synthesizer, takesWords } from '../../models/ports/synthesizer.ts';
import type { AgentVoice, SpokenVoice, TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type {
  CallEngines,
  CallProviders,
  OwnDefaults,
  ProviderFallback,
} from '../../models/selection/callProviders.ts';
import { forWholeTexts } from '../../models/synthesis/wholeTexts.ts';
import { type SpeechCache, SpeechSynthesis } from './speechSynthesis.ts';
import { StreamedSynthesis } from './streamedSynthesis.ts';

/** How texts are spoken. */
export interface SessionSynthesis {
  readonly synthesis: SpeechSynthesis;
  /** Speaks texts while they are written; undefined when the vendor takes whole sentences. */
  readonly streamedSynthesis?: StreamedSynthesis | undefined;
  readonly manner?: AgentVoice | undefined;
}

/** The recognizers, voices and speech-to-speech models of one session. */
export interface SessionSpeech extends SessionSynthesis {
  readonly speechToText: Recognizer;
  /** What agent and nodes name; undefined when the same recognizer and voice serve all. */
  readonly callSpeech?: CallSpeech | undefined;
  /** The speech-to-speech models that agent and nodes name; undefined when there are none. */
  readonly engines?: CallEngines | undefined;
  /** What all of them have done and is not stored yet. */
  readonly tally: UsageTally;
}

/** A voice as the configuration names it, and who does: `the agent` or `node “id”`. */
interface NamedVoice {
  readonly voice: string | undefined;
  readonly place: string;
}

export interface CallSpeechDeps {
  readonly providers: CallProviders;
  /** The installation's default voice and recognizer. */
  readonly defaults: SessionSynthesis & { readonly speechToText: Recognizer };
  readonly projectId: string;
  readonly sampleRateHz: number;
  /** The last voice, where none that is named works. */
  readonly lastVoice: TextToSpeech | undefined;
  readonly cache: SpeechCache;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/** The recognizers and voices of one call, by what its agent and nodes name. */
export class CallSpeech {
  readonly #deps: CallSpeechDeps;
  readonly #opened = new Map<string, Promise<SessionSynthesis>>();
  #onFallback: (fallback: ProviderFallback) => void = () => undefined;
  readonly #ownDefaults: Promise<OwnDefaults>;
  /** Whether the project has own defaults; undefined until that is known. */
  #hasOwn: OwnDefaults | undefined;
  /** The synthesis that spoke last. */
  latest: SessionSynthesis;

  constructor(deps: CallSpeechDeps) {
    this.#deps = deps;
    this.latest = deps.defaults;
    this.#ownDefaults = this.#findOwnDefaults();
  }

  /** Tells when a vendor is left for the next one. */
  listen(onFallback: (fallback: ProviderFallback) => void): void {
    this.#onFallback = onFallback;
  }

  /** A vendor was left for the next one. */
  report(fallback: ProviderFallback): void {
    this.#onFallback(fallback);
  }

  leave(kind: ProviderFallback['kind'], from: string, to: string, error: unknown): void {
    this.report({ kind, from, to, reason: reasonOf(error) });
  }

  /** A voice that its vendor may not have is named with its place. */
  #leaveVoice(from: string, to: string, error: unknown, named: NamedVoice | undefined): void {
    const isRefused = error instanceof ModelError && error.code === 'model_rejected';
    const where =
      isRefused && named?.voice !== undefined ? ` (voice “${named.voice}” of ${named.place})` : '';
    this.report({ kind: 'synthesis', from, to, reason: `${reasonOf(error)}${where}` });
  }

  /**
   * @param place - Who names the voice.
   * @returns The synthesis, without a promise where the settings decide. Never rejects.
   */
  synthesisFor(
    config: SpeechConfig,
    language: string,
    place = 'the agent',
  ): SessionSynthesis | Promise<SessionSynthesis> {
    if (isDefaultSpeech(config)) {
      if (!this.#hasOwn) return this.#ownDefaults.then(() => this.synthesisFor(config, language));
      if (!this.#hasOwn.synthesis) {
        this.latest = this.#deps.defaults;
        return this.latest;
      }
    }
    const key = JSON.stringify([config.synthesis, config.fallback?.synthesis, config.pronunciations]);
    const opened = this.#opened.get(key) ?? this.#open(config, { language, place }, key);
    this.#opened.set(key, opened);
    return opened.then((synthesis) => {
      this.latest = synthesis;
      return synthesis;
    });
  }

  /** Returns the recognizers that the configuration names. Never rejects. */
  async recognizersFor(config: SpeechConfig): Promise<readonly Recognizer[]> {
    const { providers, defaults, onError } = this.#deps;
    if (isDefaultSpeech(config) && !(await this.#ownDefaults).recognition) return [defaults.speechToText];
    try {
      return await providers.recognizers(config);
    } catch (error) {
      onError(error, 'speech recognition of the agent not usable');
      const from = config.recognition?.provider ?? defaults.speechToText.name;
      const to = defaults.speechToText.name;
      this.leave('recognition', from, to, error);
      return [defaults.speechToText];
    }
  }

  close(): void {
    const closing = [...this.#opened.values()];
    this.#opened.clear();
    for (const opened of closing)
      void opened.then(({ streamedSynthesis }) => {
        if (streamedSynthesis !== this.#deps.defaults.streamedSynthesis) streamedSynthesis?.close();
      });
    this.#deps.providers.close();
  }

  /** Asks whether the project has own defaults. When that fails, the installation's credentials serve the call. */
  async #findOwnDefaults(): Promise<OwnDefaults> {
    const { providers, onError } = this.#deps;
    try {
      this.#hasOwn = await providers.ownDefaults();
    } catch (error) {
      onError(error, 'provider credentials of the project not read');
      this.#hasOwn = { recognition: false, synthesis: false };
    }
    return this.#hasOwn;
  }

  async #open(
    config: SpeechConfig,
    { language, place }: { readonly language: string; readonly place: string },
    key: string,
  ): Promise<SessionSynthesis> {
    const { providers, defaults, onError } = this.#deps;
    try {
      const { synthesis: { speed, voice } = {}, pronunciations } = config;
      const vendors = await providers.synthesizers(config);
      const opened = this.#synthesisOf(vendors, { language, speed }, key, { voice, place });
      return { ...opened, manner: { speed, pronunciations } };
    } catch (error) {
      onError(error, 'speech synthesis of the agent not usable');
      const defaultVoice = this.#deps.lastVoice?.name ?? 'default';
      const from = config.synthesis?.provider ?? defaultVoice;
      this.leave('synthesis', from, defaultVoice, error);
      return defaults;
    }
  }

  #synthesisOf(
    vendors: readonly Candidate<Synthesizer>[],
    voice: SpokenVoice,
    key: string,
    named: NamedVoice,
  ): SessionSynthesis {
    const { lastVoice, clock, cache, projectId, sampleRateHz, providers, onError } = this.#deps;
    const { breakers } = providers;
    const [first] = vendors;
    if (!first) throw new ModelError('model_rejected', 'no speech provider');
    const hasLast = lastVoice === undefined || vendors.some(({ name }) => name === lastVoice.name);
    const last = hasLast ? [] : [{ model: lastVoice, name: lastVoice.name }];
    const voices = [...vendors.map((one) => ({ ...one, model: forWholeTexts(one.model) })), ...last];
    const onFallback: OnFallback<Synthesizer> = (from, to, error) =>
      this.#leaveVoice(from.name, to.name, error, from.name === first.name ? named : undefined);
    const onFailure = (error: unknown) => onError(error, 'speech synthesis failed, retrying');
    const shared = { cache, clock, breakers, cacheScope: `${projectId} ${key}`, onFallback, onFailure };
    // Tells of a vendor that failed for another call.
    new Failover(voices, { clock, breakers, onFallback, onLate: () => undefined }).start();
    const { model } = first;
    if (!takesWords(model)) return { synthesis: new SpeechSynthesis({ ...shared, voices }, sampleRateHz) };
    // Where no other voice is left, the same one says the rest.
    const [same, ...next] = voices;
    const others = next.length > 0 || !same ? next : [{ ...same, breaker: undefined }];
    const rest = new SpeechSynthesis({ ...shared, voices: others }, sampleRateHz);
    const streamed = { ...shared, voice: { ...first, model }, others, rest, firstVoice: voice };
    return { synthesis: rest, streamedSynthesis: new StreamedSynthesis(streamed, sampleRateHz) };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
