import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../../models/ports/textToSpeech.ts';
import type { TextToSpeechOptions } from '../../models/providerOptions.ts';
import { webSocketUrl } from '../../models/sockets/target.ts';
import {
  clampedSpeed,
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
import { foundBy, type VoiceLookup } from '../../models/voiceLookup.ts';
import { BASE_URL, OPTIONS } from './vendor.ts';

const API_VERSION = '2025-04-16';
const SAMPLE_RATE_HZ = 24_000;
const DEFAULT_MODEL = 'sonic-3';
const DEFAULT_VOICE = 'a0e99841-438c-4a64-b679-ae501e7d6091';
/** The most texts on one connection. The vendor accepts dozens. */
const MAX_TEXTS = 10;
/** The time that the vendor waits for more words before it speaks. The vendor's own default is three seconds. */
const MAX_BUFFER_DELAY_MS = 300;
/** The vendor's range of speeds. */
const [SLOWEST, FASTEST] = [0.6, 1.5];

const message = z.looseObject({ type: z.string(), context_id: z.string().nullish() });
const reported = z.object({
  context_id: z.string().nullish(),
  status_code: z.number().optional(),
  error_code: z.string().optional(),
  title: z.string().optional(),
});
const chunk = z.object({ data: z.string() });
const timestamps = z.object({
  word_timestamps: z
    .object({ words: z.array(z.string()), start: z.array(z.number()), end: z.array(z.number()) })
    .nullish(),
});

/**
 * Creates a synthesizer for Cartesia.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://docs.cartesia.ai/api-reference/tts/websocket
 */
export function createCartesiaTextToSpeech(deps: VendorSynthesizerDeps): StreamingTextToSpeech {
  const url = webSocketUrl(deps.baseUrl, '/tts/websocket').href;
  const headers: Record<string, string> = { 'Cartesia-Version': API_VERSION };
  if (deps.apiKey !== undefined) headers['X-API-Key'] = deps.apiKey;
  const options = OPTIONS.parse(deps.options ?? {});
  const protocol: SynthesisProtocol = {
    name: 'cartesia',
    sampleRateHz: SAMPLE_RATE_HZ,
    maxTexts: MAX_TEXTS,
    namesAudio: true,
    target: () => ({ url, headers }),
    open: () => new CartesiaConnection(deps, options),
  };
  return createSocketSynthesizer(protocol, deps);
}

export const createTextToSpeech = (options: TextToSpeechOptions) =>
  createCartesiaTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));

/** @see https://docs.cartesia.ai/api-reference/voices/get */
export const lookUpVoice: VoiceLookup = async ({ apiKey = '', baseUrl = BASE_URL }, voice, ask) => {
  const url = new URL(`/voices/${encodeURIComponent(voice)}`, baseUrl);
  return foundBy(await ask(url.href, { 'x-api-key': apiKey, 'cartesia-version': API_VERSION }));
};

/**
 * A text and its contexts. The vendor ends a context one second after its audio, so that a text that continues later
 * needs another one.
 */
interface Text {
  readonly id: string;
  readonly settings: object;
  readonly decoder: L16Decoder;
  contexts: number;
  /** The offset in the text's audio at which the context's audio begins, in ms. */
  offsetMs: number;
  /** The present context has no words yet. */
  isFresh: boolean;
  isEnded: boolean;
}

class CartesiaConnection implements SynthesisProtocolConnection {
  readonly #defaults: SpokenVoice;
  readonly #options: z.infer<typeof OPTIONS>;
  readonly #texts = new Map<string, Text>();

  constructor(defaults: SpokenVoice, options: z.infer<typeof OPTIONS>) {
    this.#defaults = defaults;
    this.#options = options;
  }

  begin(id: string, voice: SpokenVoice): string[] {
    const speed = clampedSpeed(voice.speed, SLOWEST, FASTEST);
    const generation = omitUndefined({ ...this.#options, speed });
    const settings = {
      model_id: voice.model ?? this.#defaults.model ?? DEFAULT_MODEL,
      voice: { mode: 'id', id: voice.voice ?? this.#defaults.voice ?? DEFAULT_VOICE },
      output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: SAMPLE_RATE_HZ },
      language: languageCode(voice.language),
      max_buffer_delay_ms: MAX_BUFFER_DELAY_MS,
      add_timestamps: true,
      generation_config: Object.keys(generation).length === 0 ? undefined : generation,
    };
    const decoder = new L16Decoder(SAMPLE_RATE_HZ);
    this.#texts.set(id, { id, settings, decoder, contexts: 1, offsetMs: 0, isFresh: true, isEnded: false });
    return [];
  }

  write(id: string, transcript: string): string[] {
    const text = this.#texts.get(id);
    if (!text || (text.isFresh && transcript.trim() === '')) return [];
    text.isFresh = false;
    return [request(text, transcript, true)];
  }

  /** A context that is not known yet takes no empty transcript: all was spoken. */
  end(id: string): string[] | undefined {
    const text = this.#texts.get(id);
    if (!text) return [];
    if (text.isFresh) {
      this.#texts.delete(id);
      return undefined;
    }
    text.isEnded = true;
    return [request(text, '', false)];
  }

  cancel(id: string): string[] {
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    return text ? [JSON.stringify({ context_id: contextId(text), cancel: true })] : [];
  }

  decode(data: Buffer): IdentifiedEvent[] {
    const read = message.parse(JSON.parse(String(data)));
    const text = this.#textOf(read.context_id);
    if (read.type === 'error') return this.#failed(text, reported.parse(read));
    if (!text) return [];
    const { id } = text;
    switch (read.type) {
      case 'chunk':
        return [
          {
            type: 'samples',
            id,
            samples: text.decoder.decode(Buffer.from(chunk.parse(read).data, 'base64')),
          },
        ];
      case 'timestamps': {
        const { words = [], start = [], end = [] } = timestamps.parse(read).word_timestamps ?? {};
        const timed = words.map((word, index) => ({
          word,
          startMs: text.offsetMs + (start[index] ?? 0) * 1000,
          endMs: text.offsetMs + (end[index] ?? start[index] ?? 0) * 1000,
        }));
        return [{ type: 'words', id, words: timed }];
      }
      case 'done':
        return this.#done(text);
      default:
        return [];
    }
  }

  #done(text: Text): IdentifiedEvent[] {
    if (text.isEnded) {
      this.#texts.delete(text.id);
      return [{ type: 'done', id: text.id }];
    }
    text.contexts += 1;
    text.isFresh = true;
    text.offsetMs = text.decoder.lengthMs;
    return [];
  }

  #failed(text: Text | undefined, read: z.infer<typeof reported>): IdentifiedEvent[] {
    const error = reportedError('cartesia', read.status_code, read.error_code ?? read.title);
    // Of a text that was cancelled.
    if (!text && read.context_id) return [];
    if (text) this.#texts.delete(text.id);
    return [{ type: 'failed', id: text?.id, error }];
  }

  #textOf(context: string | null | undefined): Text | undefined {
    return [...this.#texts.values()].find((text) => contextId(text) === context);
  }
}

function contextId({ id, contexts }: Text): string {
  return contexts === 1 ? id : `${id}.${contexts}`;
}

function request(text: Text, transcript: string, isContinued: boolean): string {
  return JSON.stringify({
    ...text.settings,
    context_id: contextId(text),
    transcript,
    continue: isContinued,
  });
}
