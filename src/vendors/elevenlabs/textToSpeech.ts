import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import type { TimedWord } from '../../models/ports/streamingSpeechToText.ts';
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
import { foundBy, type VoiceLookup } from '../../models/voiceLookup.ts';
import { BASE_URL, OPTIONS } from './vendor.ts';

const SAMPLE_RATE_HZ = 24_000;
const DEFAULT_MODEL = 'eleven_flash_v2_5';
const DEFAULT_VOICE = 'JBFqnCBsd6RMkjVDRZzb';
/**
 * The most texts that are open at once. A connection has five contexts, including those that are being closed; the
 * keep-alive may open one.
 */
const MAX_TEXTS = 4;
/** The longest that the vendor allows: an answer that is held back writes nothing for a while. */
const INACTIVITY_TIMEOUT_SECONDS = 180;
const KEEP_ALIVE_MS = 10_000;
/** Characters before the first audio, and between the next; the vendor's own schedule begins at 120, a second later. */
const CHUNK_LENGTHS = [50, 120, 200, 260];
/** The vendor's range of speeds. */
const [SLOWEST, FASTEST] = [0.7, 1.2];

const alignment = z.object({
  chars: z.array(z.string()),
  charStartTimesMs: z.array(z.number()),
  charDurationsMs: z.array(z.number()),
});
const message = z.object({
  audio: z.string().nullish(),
  alignment: alignment.nullish().catch(undefined),
  isFinal: z.boolean().nullish(),
  is_final: z.boolean().nullish(),
  contextId: z.string().nullish(),
  error: z.string().nullish(),
  code: z.number().nullish(),
});

/**
 * Streaming synthesis by ElevenLabs, one context per text.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input
 */
export function createElevenLabsTextToSpeech(deps: VendorSynthesizerDeps): StreamingTextToSpeech {
  const { apply_text_normalization, enable_logging, ...settings } = OPTIONS.parse(deps.options ?? {});
  const query = { apply_text_normalization, enable_logging };
  const protocol: SynthesisProtocol = {
    name: 'elevenlabs',
    sampleRateHz: SAMPLE_RATE_HZ,
    maxTexts: MAX_TEXTS,
    namesAudio: true,
    keepAlive: { message: JSON.stringify({ text: '' }), intervalMs: KEEP_ALIVE_MS },
    target: (voice) => target(deps, query, voice),
    open: () => new ElevenLabsConnection(settings),
  };
  return createSocketSynthesizer(protocol, deps);
}

export const createTextToSpeech = (options: TextToSpeechOptions) =>
  createElevenLabsTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));

/** @see https://elevenlabs.io/docs/api-reference/voices/get */
export const lookUpVoice: VoiceLookup = async ({ apiKey = '', baseUrl = BASE_URL }, voice, ask) => {
  const url = new URL(`/v1/voices/${encodeURIComponent(voice)}`, baseUrl);
  return foundBy(await ask(url.href, { 'xi-api-key': apiKey }));
};

type Options = z.infer<typeof OPTIONS>;

function target(deps: VendorSynthesizerDeps, query: Options, voice: SpokenVoice): WebSocketTarget {
  const model = voice.model ?? deps.model ?? DEFAULT_MODEL;
  const language = languageCode(voice.language);
  const path = `/v1/text-to-speech/${encodeURIComponent(voice.voice ?? deps.voice ?? DEFAULT_VOICE)}/multi-stream-input`;
  const url = webSocketUrl(deps.baseUrl, path, {
    model_id: model,
    output_format: `pcm_${SAMPLE_RATE_HZ}`,
    inactivity_timeout: String(INACTIVITY_TIMEOUT_SECONDS),
    sync_alignment: 'true',
    ...query,
    // Other models refuse it, and tell the language from the words.
    ...(language !== undefined && model.endsWith('_v2_5') ? { language_code: language } : {}),
  });
  return { url: url.href, headers: deps.apiKey === undefined ? undefined : { 'xi-api-key': deps.apiKey } };
}

interface Context {
  readonly decoder: L16Decoder;
  readonly words: AlignedWords;
}

class ElevenLabsConnection implements SynthesisProtocolConnection {
  readonly #contexts = new Map<string, Context>();
  /** Cancelled, and not confirmed by the vendor. */
  readonly #closing = new Set<string>();
  /** The settings of the voice. */
  readonly #settings: Options;

  constructor(settings: Options) {
    this.#settings = settings;
  }

  begin(id: string, { speed }: SpokenVoice): string[] {
    this.#contexts.set(id, { decoder: new L16Decoder(SAMPLE_RATE_HZ), words: new AlignedWords() });
    const start = {
      text: ' ',
      context_id: id,
      voice_settings: { ...this.#settings, speed: clampedSpeed(speed, SLOWEST, FASTEST) },
      generation_config: { chunk_length_schedule: CHUNK_LENGTHS },
    };
    return [JSON.stringify(start)];
  }

  write(id: string, text: string): string[] {
    const flush = endsSentence(text) ? { flush: true } : {};
    // Without the space the vendor waits for the rest of the word.
    const words = /\s$/.test(text) ? text : `${text} `;
    return [JSON.stringify({ text: words, context_id: id, ...flush })];
  }

  /** A context that is closed says first what was flushed. */
  end(id: string): string[] {
    return [
      JSON.stringify({ text: '', context_id: id, flush: true }),
      JSON.stringify({ context_id: id, close_context: true }),
    ];
  }

  get closing(): number {
    return this.#closing.size;
  }

  cancel(id: string): string[] {
    this.#contexts.delete(id);
    this.#closing.add(id);
    return [JSON.stringify({ context_id: id, close_context: true })];
  }

  decode(data: Buffer): IdentifiedEvent[] {
    const read = message.parse(JSON.parse(String(data)));
    const id = read.contextId ?? undefined;
    if (read.error) {
      const error = reportedError('elevenlabs', undefined, read.error);
      // Without a context the connection is refused.
      if (id === undefined) throw error;
      this.#contexts.delete(id);
      this.#closing.delete(id);
      return [{ type: 'failed', id, error }];
    }
    if (id !== undefined && (read.isFinal || read.is_final)) this.#closing.delete(id);
    const context = id === undefined ? undefined : this.#contexts.get(id);
    if (!context) return [];
    const events: IdentifiedEvent[] = [];
    // Times count from the audio of their own message.
    const words = read.alignment ? context.words.add(read.alignment, context.decoder.lengthMs) : [];
    if (words.length > 0) events.push({ type: 'words', id, words });
    if (read.audio)
      events.push({
        type: 'samples',
        id,
        samples: context.decoder.decode(Buffer.from(read.audio, 'base64')),
      });
    if (!read.isFinal && !read.is_final) return events;
    if (id !== undefined) this.#contexts.delete(id);
    const last = context.words.finish();
    if (last.length > 0) events.push({ type: 'words', id, words: last });
    return [...events, { type: 'done', id }];
  }
}

/** The times of characters. */
interface Alignment {
  readonly chars: readonly string[];
  readonly charStartTimesMs: readonly number[];
  readonly charDurationsMs: readonly number[];
}

const HAN = /^\p{Script=Han}$/u;

/** Makes words of timed characters, whose messages may split a word. A Chinese character is a word. */
class AlignedWords {
  #word: TimedWord | undefined;

  /** @param offsetMs - Added to all times. @returns The words that are complete. */
  add({ chars, charStartTimesMs, charDurationsMs }: Alignment, offsetMs: number): TimedWord[] {
    const words: TimedWord[] = [];
    for (const [index, char] of chars.entries()) {
      const startMs = offsetMs + (charStartTimesMs[index] ?? 0);
      const endMs = startMs + (charDurationsMs[index] ?? 0);
      const isHan = HAN.test(char);
      if (isHan || char.trim() === '') words.push(...this.finish());
      if (isHan) words.push({ word: char, startMs, endMs });
      else if (char.trim() !== '')
        this.#word = {
          word: (this.#word?.word ?? '') + char,
          startMs: this.#word?.startMs ?? startMs,
          endMs,
        };
    }
    return words;
  }

  /** @returns The word that no space follows. */
  finish(): TimedWord[] {
    const word = this.#word;
    this.#word = undefined;
    return word ? [word] : [];
  }
}
