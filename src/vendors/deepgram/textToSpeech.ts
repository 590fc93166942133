import { z } from 'zod';
import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../../models/ports/textToSpeech.ts';
import type { TextToSpeechOptions } from '../../models/providerOptions.ts';
import { type WebSocketTarget, webSocketUrl } from '../../models/sockets/target.ts';
import {
  clampedSpeed,
  endsSentence,
  type IdentifiedEvent,
  L16Decoder,
  reportedError,
  type SynthesisProtocol,
  type SynthesisProtocolConnection,
} from '../../models/synthesis/protocol.ts';
import {
  createSocketSynthesizer,
  type VendorSynthesizerDeps,
  vendorSynthesizerDeps,
} from '../../models/synthesis/socketSynthesizer.ts';
import type { VoiceLookup } from '../../models/voiceLookup.ts';
import { AURA_OPTIONS, authorization, BASE_URL } from './vendor.ts';

const SAMPLE_RATE_HZ = 24_000;
const DEFAULT_VOICE = 'aura-2-thalia-en';
/** The vendor's range of speeds. */
const [SLOWEST, FASTEST] = [0.7, 1.5];

const message = z.object({
  type: z.string(),
  code: z.string().optional(),
  err_code: z.string().optional(),
});

/**
 * Streaming synthesis by Deepgram Aura. Texts have no names: a connection speaks one after the other.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://developers.deepgram.com/docs/streaming-text-to-speech
 */
export function createDeepgramTextToSpeech(deps: VendorSynthesizerDeps): StreamingTextToSpeech {
  const options = AURA_OPTIONS.parse(deps.options ?? {});
  const protocol: SynthesisProtocol = {
    name: 'deepgram',
    sampleRateHz: SAMPLE_RATE_HZ,
    maxTexts: 1,
    namesAudio: true,
    target: (voice) => target(deps, options, voice),
    open: () => new DeepgramConnection(),
  };
  return createSocketSynthesizer(protocol, deps);
}

export const createTextToSpeech = (options: TextToSpeechOptions) =>
  createDeepgramTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));

const models = z.object({
  tts: z.array(z.object({ name: z.string(), canonical_name: z.string().optional() })).min(1),
});

/** A voice is a model. @see https://developers.deepgram.com/reference/manage/models/list */
export const lookUpVoice: VoiceLookup = async ({ apiKey, baseUrl = BASE_URL }, voice, ask) => {
  const url = new URL('/v1/models?include_outdated=true', baseUrl);
  const response = await ask(url.href, authorization(apiKey).headers ?? {});
  const told = response.ok ? models.safeParse(await response.json()) : undefined;
  if (!told?.success) return undefined;
  return told.data.tts.some(({ name, canonical_name }) => [name, canonical_name].includes(voice));
};

/** A voice is a model, and speaks one language. */
function target(
  deps: VendorSynthesizerDeps,
  options: z.infer<typeof AURA_OPTIONS>,
  { voice, model, speed }: SpokenVoice,
): WebSocketTarget {
  const pace = clampedSpeed(speed, SLOWEST, FASTEST);
  const url = webSocketUrl(deps.baseUrl, '/v1/speak', {
    model: voice ?? model ?? deps.voice ?? deps.model ?? DEFAULT_VOICE,
    encoding: 'linear16',
    sample_rate: String(SAMPLE_RATE_HZ),
    ...(pace === undefined ? {} : { speed: String(pace) }),
    ...options,
  });
  return {
    url: url.href,
    ...authorization(deps.apiKey),
  };
}

class DeepgramConnection implements SynthesisProtocolConnection {
  #id: string | undefined;
  #decoder = new L16Decoder(SAMPLE_RATE_HZ);
  /** The number of clears that the vendor has not confirmed. Until then its audio belongs to cancelled texts. */
  #clears = 0;
  #hasFlushed = false;
  /** The number of flushes that the vendor has not confirmed. */
  #flushes = 0;
  #isEnded = false;

  begin(id: string): string[] {
    this.#id = id;
    this.#decoder = new L16Decoder(SAMPLE_RATE_HZ);
    this.#hasFlushed = false;
    this.#flushes = 0;
    this.#isEnded = false;
    return [];
  }

  /** The first sentence need not wait for the next one; the vendor allows no flush for each. */
  write(_id: string, text: string): string[] {
    const speak = JSON.stringify({ type: 'Speak', text });
    if (this.#hasFlushed || !endsSentence(text)) return [speak];
    this.#hasFlushed = true;
    return [speak, ...this.#flush()];
  }

  end(): string[] {
    this.#isEnded = true;
    return this.#flush();
  }

  cancel(): string[] {
    this.#id = undefined;
    this.#clears += 1;
    return [JSON.stringify({ type: 'Clear' })];
  }

  decode(data: Buffer, isBinary: boolean): IdentifiedEvent[] {
    const id = this.#id;
    if (isBinary) {
      const isWanted = this.#clears === 0 && id !== undefined;
      return isWanted ? [{ type: 'samples', id, samples: this.#decoder.decode(data) }] : [];
    }
    const { type, code, err_code } = message.parse(JSON.parse(String(data)));
    if (type === 'Error') throw reportedError('deepgram', undefined, err_code ?? code);
    if (type === 'Cleared') this.#clears = Math.max(0, this.#clears - 1);
    if (type !== 'Flushed' || this.#clears > 0 || id === undefined) return [];
    this.#flushes = Math.max(0, this.#flushes - 1);
    if (!this.#isEnded || this.#flushes > 0) return [];
    this.#id = undefined;
    return [{ type: 'done', id }];
  }

  #flush(): string[] {
    this.#flushes += 1;
    return [JSON.stringify({ type: 'Flush' })];
  }
}
