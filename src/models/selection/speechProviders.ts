import { hash } from 'node:crypto';
import type { UsageCounter } from '../../agents/accounts/usage.ts';
import { speechAmounts } from '../../agents/cost/usage.ts';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { RecognitionChoice, SynthesisChoice } from '../../agents/speech/speechConfig.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { TargetGuard } from '../../http/lookup.ts';
import { type CredentialName, credentialName } from '../../vendors/credentials.ts';
import { openAiStreamingStt, STT_PROVIDERS, TTS_PROVIDERS } from '../../vendors/registry.ts';
import { countedRecognizer, countedSynthesizer } from '../countedSpeech.ts';
import { type Breakers, createBreakers } from '../failover/circuitBreaker.ts';
import type { Candidate, OnFallback } from '../failover/failover.ts';
import type { KeyOwner, ProviderMetrics } from '../ports/metrics.ts';
import { ModelError } from '../ports/modelError.ts';
import { isStreaming, type Recognizer } from '../ports/recognizer.ts';
import type { SpeechToText } from '../ports/speechToText.ts';
import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import { type Synthesizer, takesWords } from '../ports/synthesizer.ts';
import type { Credentials, ProviderOptions } from '../providerOptions.ts';
import { createBatchChain } from '../recognition/batchChain.ts';
import { createRecognizerChain } from '../recognition/recognizerChain.ts';
import { withStreamedSynthesisMetrics, withSynthesisMetrics } from '../speechMetrics.ts';
import type {
  CallProviders,
  OnUsed,
  ProviderFallback,
  SpeechProviders,
  SpeechVendors,
} from './callProviders.ts';
import { type Access, accessOf } from './credentialAccess.ts';
import { withOwnHints, withOwnSpeed } from './fallbackVendor.ts';
import { VendorCache } from './vendorCache.ts';

type Chosen<Choice extends { readonly provider?: string | undefined }> = Choice & {
  readonly provider: NonNullable<Choice['provider']>;
};

export interface SpeechDefaults {
  readonly recognition: Chosen<RecognitionChoice>;
  readonly synthesis: Chosen<SynthesisChoice>;
}

export interface SpeechProvidersDeps {
  /** The providers for agents and nodes that name none. */
  readonly defaults: SpeechDefaults;
  /** Returns the installation's credentials. */
  readonly credentials: (name: CredentialName, kind: Kind) => Credentials;
  readonly projectCredentials: (projectId: string) => Promise<readonly ProviderCredentials[]>;
  /** Checks addresses that projects configure. */
  readonly guard: TargetGuard;
  readonly options: (credentials: Credentials) => ProviderOptions;
  readonly metrics: (kind: 'transcription' | 'speech', provider: string, owner: KeyOwner) => ProviderMetrics;
  /** Counts what runs on the installation's credentials. */
  readonly usage: UsageCounter;
  readonly clock: Clock;
  /** Reports each model that an agent or the settings name and that is opened. */
  readonly onModelUsed: (model: string) => void;
  readonly onError: (error: unknown, what: string, fields: object) => void;
}

type Kind = 'stt' | 'tts';

/** The vendors that agents and nodes name, by the credentials of their projects. */
export class SelectedSpeechProviders implements SpeechProviders {
  readonly #deps: SpeechProvidersDeps;
  readonly #vendors: VendorCache<Recognizer | Synthesizer>;
  /** The circuit breakers of the vendors, by vendor and key. */
  readonly #breakers: Breakers;

  constructor(deps: SpeechProvidersDeps) {
    this.#deps = deps;
    this.#vendors = new VendorCache((error) => deps.onError(error, 'speech provider not closed', {}));
    this.#breakers = createBreakers(deps.clock);
  }

  open(projectId: string, onFallback: (fallback: ProviderFallback) => void, onUsed: OnUsed): CallProviders {
    const used: string[] = [];
    let stored: Promise<readonly ProviderCredentials[]> | undefined;
    const ownCredentials = () => {
      stored ??= this.#deps.projectCredentials(projectId);
      return stored;
    };
    const report = (kind: ProviderFallback['kind']) => (from: Named, to: Named, error: ModelError) =>
      onFallback({ kind, from: from.name, to: to.name, reason: error.message });
    const find = async <
      Choice extends {
        readonly provider: Parameters<typeof credentialName>[1];
        readonly model?: string | undefined;
      },
    >(
      kind: Kind,
      choices: readonly Choice[],
      make: (choice: Choice, access: Access) => Promise<Recognizer | Synthesizer>,
    ) => {
      const own = await ownCredentials();
      const found: Found<Recognizer | Synthesizer>[] = [];
      const tell = report(kind === 'stt' ? 'recognition' : 'synthesis');
      let left: (Named & { readonly error: ModelError }) | undefined;
      for (const choice of choices) {
        const access = this.#access(kind, choice.provider, own);
        const breaker = digestOf([choice.provider, access.credentials]);
        const key = digestOf([kind, choice === choices[0], choice, access.credentials]);
        if (choice.model !== undefined) this.#deps.onModelUsed(choice.model);
        try {
          const vendor = await this.#vendors.use(key, () => make(choice, access));
          used.push(key);
          found.push({ vendor, model: choice.model, breaker, owner: access.owner });
          if (left) tell(left, { name: choice.provider }, left.error);
          left = undefined;
        } catch (cause) {
          const { provider } = choice;
          const error = new ModelError('model_rejected', `${provider} cannot be used`, { cause });
          left = { name: provider, error };
          this.#deps.onError(error, 'speech provider not usable', { projectId, provider });
        }
      }
      if (found.length === 0) throw left?.error ?? new ModelError('model_rejected', 'no speech provider');
      return found;
    };
    return {
      recognizers: async ({ recognition, fallback }) => {
        const { recognition: defaults } = this.#deps.defaults;
        const first = withDefaults(recognition, defaults);
        const isOther =
          first.provider !== defaults.provider || first.options?.batch !== defaults.options?.batch;
        const choices = [first, ...(fallback?.recognition ?? (isOther ? [defaults] : []))];
        const found = await find('stt', choices, async (choice, access) => {
          const recognizer = await this.#recognizer(choice, access);
          return choice === first ? recognizer : withOwnHints(recognizer, choice);
        });
        const counted = (found as readonly Found<Recognizer>[]).map((one) => ({
          ...one,
          vendor: this.#countedRecognizer(projectId, one, onUsed),
        }));
        return this.#recognizers(counted, report('recognition'));
      },
      synthesizers: async ({ synthesis, fallback }) => {
        const { synthesis: defaults } = this.#deps.defaults;
        const first = withDefaults(synthesis, defaults);
        const isOther = first.provider !== defaults.provider;
        const choices = [first, ...(fallback?.synthesis ?? (isOther ? [defaults] : []))];
        const found = await find('tts', choices, async (choice, access) =>
          withOwnSpeed(await this.#synthesizer(choice, access), choice.speed),
        );
        return (found as readonly Found<Synthesizer>[]).map((one) => {
          const model = this.#countedSynthesizer(projectId, one, onUsed);
          return { model, name: model.name, breaker: one.breaker };
        });
      },
      ownDefaults: async () => {
        const { recognition, synthesis } = this.#deps.defaults;
        const [heardBy, spokenBy] = [
          credentialName('stt', recognition.provider),
          credentialName('tts', synthesis.provider),
        ];
        // The local models need none.
        const own = heardBy || spokenBy ? await ownCredentials() : [];
        const has = (wanted: CredentialName | undefined) => own.some(({ name }) => name === wanted);
        return { recognition: has(heardBy), synthesis: has(spokenBy) };
      },
      breakers: this.#breakers,
      close: () => {
        for (const key of used.splice(0)) this.#vendors.release(key);
      },
    };
  }

  counted(projectId: string, { speechToText, textToSpeech }: SpeechVendors, onUsed: OnUsed): SpeechVendors {
    const { recognition, synthesis } = this.#deps.defaults;
    const owner = 'installation';
    const heardBy = { vendor: speechToText, model: recognition.model, owner } as const;
    const spokenBy = { vendor: textToSpeech, model: synthesis.model, owner } as const;
    return {
      speechToText: this.#countedRecognizer(projectId, heardBy, onUsed),
      textToSpeech: this.#countedSynthesizer(projectId, spokenBy, onUsed),
    };
  }

  close(): Promise<void> {
    return this.#vendors.close();
  }

  #countedRecognizer(
    projectId: string,
    { vendor, model, owner }: Counted<Recognizer>,
    onUsed: OnUsed,
  ): Recognizer {
    return countedRecognizer(vendor, (heardMs) => {
      onUsed(speechAmounts('recognitionMs', vendor.name, model, heardMs));
      if (owner === 'installation') this.#deps.usage.add(projectId, { installationRecognitionMs: heardMs });
    });
  }

  #countedSynthesizer(
    projectId: string,
    { vendor, model, owner }: Counted<Synthesizer>,
    onUsed: OnUsed,
  ): Synthesizer {
    return countedSynthesizer(vendor, (characters) => {
      onUsed(speechAmounts('synthesisCharacters', vendor.name, model, characters));
      if (owner === 'installation') this.#deps.usage.add(projectId, { installationCharacters: characters });
    });
  }

  #access(
    kind: Kind,
    provider: Parameters<typeof credentialName>[1],
    own: readonly ProviderCredentials[],
  ): Access {
    const name = credentialName(kind, provider);
    const { credentials, guard } = this.#deps;
    return accessOf(name, own, name === undefined ? {} : credentials(name, kind), guard);
  }

  async #recognizer(
    { provider, model, options: own }: Chosen<RecognitionChoice>,
    { credentials, guard }: Access,
  ): Promise<Recognizer> {
    const { options } = this.#deps;
    const isRealtime = provider === 'openai' && own?.batch !== true;
    const create = isRealtime ? openAiStreamingStt : STT_PROVIDERS[provider];
    const { batch: _batch, ...vendorOptions } = own ?? {};
    return await create({ ...options(credentials), model, guard, options: own && vendorOptions });
  }

  async #synthesizer(
    { provider, model, voice, options: own }: Chosen<SynthesisChoice>,
    { credentials, owner, guard }: Access,
  ) {
    const { options, metrics, clock } = this.#deps;
    const vendor: Synthesizer = await TTS_PROVIDERS[provider]({
      ...options(credentials),
      model,
      voice,
      guard,
      options: own,
    });
    const speech = metrics('speech', provider, owner);
    return takesWords(vendor)
      ? withStreamedSynthesisMetrics(vendor, speech, clock)
      : withSynthesisMetrics(vendor, speech, clock);
  }

  /** Vendors of one kind that follow each other become a chain. */
  #recognizers(
    found: readonly Found<Recognizer>[],
    onFallback: OnFallback<Recognizer>,
  ): readonly Recognizer[] {
    const { clock, metrics } = this.#deps;
    const deps = { clock, breakers: this.#breakers, onFallback };
    const rest = found.map(({ vendor, breaker, owner }): Candidate<Recognizer> => {
      const { name } = vendor;
      return { model: vendor, name, breaker, metrics: metrics('transcription', name, owner) };
    });
    const chains: Recognizer[] = [];
    while (rest.length > 0) {
      const streaming = leading(rest, takesStream);
      const batch = leading(rest, takesUtterances);
      if (streaming.length > 0) chains.push(createRecognizerChain(streaming, deps));
      if (batch.length > 0) chains.push(createBatchChain(batch, deps));
    }
    return chains;
  }
}

interface Named {
  readonly name: string;
}

/** A vendor whose work is counted. */
interface Counted<Vendor> {
  readonly vendor: Vendor;
  /** The model that was asked for; undefined for the vendor's own. */
  readonly model: string | undefined;
  readonly owner: KeyOwner;
}

interface Found<Vendor> extends Counted<Vendor> {
  readonly breaker: string;
}

/** Options belong to the provider that is named with them. */
function withDefaults<Choice extends { readonly provider?: string | undefined; readonly options?: unknown }>(
  choice: Choice | undefined,
  defaults: Chosen<Choice>,
): Chosen<Choice> {
  const isOther = choice?.provider !== undefined && choice.provider !== defaults.provider;
  return isOther
    ? ({ ...choice } as Chosen<Choice>)
    : {
        ...defaults,
        options: choice?.provider === undefined ? defaults.options : undefined,
        ...choice,
        provider: defaults.provider,
      };
}

const takesStream = (one: Candidate<Recognizer>): one is Candidate<StreamingSpeechToText> =>
  isStreaming(one.model);
const takesUtterances = (one: Candidate<Recognizer>): one is Candidate<SpeechToText> =>
  !isStreaming(one.model);

/** Takes the first ones that are of a kind. */
function leading<One, Wanted extends One>(rest: One[], is: (one: One) => one is Wanted): Wanted[] {
  const found: Wanted[] = [];
  for (let [one] = rest; one !== undefined && is(one); [one] = rest) {
    found.push(one);
    rest.shift();
  }
  return found;
}

function digestOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
