import { z } from 'zod';
import { languageCode } from '../../base/languageCode.ts';
import { omitUndefined } from '../../base/omitUndefined.ts';
import type { StreamingTextToSpeech } from '../ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../ports/textToSpeech.ts';
import { CARTESIA_OPTIONS } from '../ports/vendorOptions.ts';
import { webSocketUrl } from '../sockets/target.ts';
import {
  clampedSpeed,
  type IdentifiedEvent,
  L16Decoder,
  reportedError,
  type SynthesisProtocol,
  type SynthesisProtocolConnection,
} from '../synthesis/protocol.ts';
import { createSocketSynthesizer, type VendorSynthesizerDeps } from '../synthesis/socketSynthesizer.ts';

export const API_VERSION = '2025-04-16';
const SAMPLE_RATE_HZ = 24_000;
const DEFAULT_MODEL = 'sonic-3';
const DEFAULT_VOICE = 'a0e99841-438c-4a64-b679-ae501e7d6091';
/** The vendor takes dozens. */
const MAX_TEXTS = 10;
/** How long the vendor waits for more words; its own default is three seconds. */
const MAX_BUFFER_DELAY_MS = 300;
/** The vendor's range. */
const [SLOWEST, FASTEST] = [0.6, 1.5];

const context = { context_id: z.string() };
const reported = z.object({
  type: z.literal('error'),
  context_id: z.string().nullish(),
  status_code: z.number().optional(),
  error_code: z.string().optional(),
  title: z.string().optional(),
});
const message = z.union([
  z.object({ type: z.literal('chunk'), ...context, data: z.string() }),
  z.object({
    type: z.literal('timestamps'),
    ...context,
    word_timestamps: z
      .object({ words: z.array(z.string()), start: z.array(z.number()), end: z.array(z.number()) })
      .nullish(),
  }),
  z.object({ type: z.literal('done'), ...context }),
  reported,
  z.object({ type: z.enum(['flush_done', 'phoneme_timestamps']) }),
]);

/**
 * Streaming synthesis by Cartesia.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://docs.cartesia.ai/api-reference/tts/websocket
 */
export function createCartesiaTextToSpeech(deps: VendorSynthesizerDeps): StreamingTextToSpeech {
  const url = webSocketUrl(deps.baseUrl, '/tts/websocket').href;
  const key = deps.apiKey === undefined ? {} : { 'X-API-Key': deps.apiKey };
  const headers = { ...key, 'Cartesia-Version': API_VERSION };
  const options = CARTESIA_OPTIONS.parse(deps.options ?? {});
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

/** The vendor ends a context one second after its audio: a text that goes on later has another one. */
interface Text {
  readonly id: string;
  readonly settings: object;
  readonly decoder: L16Decoder;
  contexts: number;
  /** Where the context's audio begins in the text's. */
  offsetMs: number;
  isEnded: boolean;
}

class CartesiaConnection implements SynthesisProtocolConnection {
  readonly #defaults: Pick<SpokenVoice, 'model' | 'voice'>;
  readonly #options: z.infer<typeof CARTESIA_OPTIONS>;
  readonly #texts = new Map<string, Text>();

  constructor(defaults: Pick<SpokenVoice, 'model' | 'voice'>, options: z.infer<typeof CARTESIA_OPTIONS>) {
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
      ...(Object.keys(generation).length === 0 ? {} : { generation_config: generation }),
    };
    const decoder = new L16Decoder(SAMPLE_RATE_HZ);
    this.#texts.set(id, { id, settings, decoder, contexts: 1, offsetMs: 0, isEnded: false });
    return [];
  }

  write(id: string, transcript: string): string[] {
    const text = this.#texts.get(id);
    return text ? [request(text, transcript, true)] : [];
  }

  end(id: string): string[] {
    const text = this.#texts.get(id);
    if (!text) return [];
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
    const text = 'context_id' in read ? this.#textOf(read.context_id) : undefined;
    if (read.type === 'error') return this.#failed(text, read);
    if (!text) return [];
    const { id } = text;
    switch (read.type) {
      case 'chunk':
        return [{ type: 'samples', id, samples: text.decoder.decode(Buffer.from(read.data, 'base64')) }];
      case 'timestamps': {
        const { words = [], start = [], end = [] } = read.word_timestamps ?? {};
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
