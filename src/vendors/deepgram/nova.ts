import { z } from 'zod';
import { speechRateHz } from '../../media/resample/resampler.ts';
import type { RecognitionEvent } from '../../models/ports/streamingSpeechToText.ts';
import {
  encodeL16,
  type HeardWord,
  type ProtocolConnection,
  type ProtocolOptions,
  type RecognitionProtocol,
  reportedError,
  turnTranscript,
} from '../../models/recognition/protocol.ts';
import { type WebSocketTarget, webSocketUrl } from '../../models/sockets/target.ts';
import { authorization, type DeepgramSettings, NOVA_OPTIONS } from './vendor.ts';

const CHUNK_MS = 40;
/** The connection is closed after 10 s without audio. */
const KEEP_ALIVE_MS = 4000;

const alternative = z.object({
  transcript: z.string(),
  languages: z.array(z.string()).optional(),
  words: z
    .array(
      z.object({
        word: z.string(),
        punctuated_word: z.string().optional(),
        start: z.number(),
        end: z.number(),
        confidence: z.number().optional(),
      }),
    )
    .default([]),
});
const results = z.object({
  start: z.number().default(0),
  duration: z.number().default(0),
  is_final: z.boolean().default(false),
  speech_final: z.boolean().default(false),
  from_finalize: z.boolean().default(false),
  channel: z.object({ alternatives: z.array(alternative) }),
});
const message = z.looseObject({ type: z.string() });
const failure = z.object({
  description: z.string().default(''),
  message: z.string().default(''),
  variant: z.string().default(''),
});

const REFUSED = /INVALID|UNAUTHORIZED|FORBIDDEN|BAD|UNSUPPORTED|INSUFFICIENT|DATA-0000/i;

export interface NovaSettings extends DeepgramSettings {
  readonly model: string;
}

/**
 * The protocol of Nova and older models, which report segments of speech. The end of a turn is decided here.
 *
 * @see https://developers.deepgram.com/reference/speech-to-text/listen-streaming
 */
export function novaProtocol(settings: NovaSettings): RecognitionProtocol {
  const options = NOVA_OPTIONS.parse(settings.options);
  return {
    name: 'deepgram',
    detectsTurns: false,
    secret: settings.apiKey,
    chunkMs: CHUNK_MS,
    sampleRateHz: speechRateHz,
    keepAlive: { message: JSON.stringify({ type: 'KeepAlive' }), intervalMs: KEEP_ALIVE_MS },
    open: (asked) => new NovaConnection(targetOf(settings, options, asked), asked.sampleRateHz),
  };
}

function targetOf(
  { baseUrl, apiKey, model }: NovaSettings,
  options: z.infer<typeof NOVA_OPTIONS>,
  { sampleRateHz, language, keyterms }: ProtocolOptions,
): WebSocketTarget {
  const isNova3 = model.startsWith('nova-3');
  const query = {
    model,
    encoding: 'linear16',
    sample_rate: sampleRateHz,
    channels: 1,
    interim_results: true,
    ...options,
    language: language ?? (isNova3 ? 'multi' : undefined),
    ...(isNova3 ? { keyterm: keyterms } : { keywords: keyterms }),
  };
  return { url: webSocketUrl(baseUrl, '/v1/listen', query).href, ...authorization(apiKey) };
}

class NovaConnection implements ProtocolConnection {
  readonly target: WebSocketTarget;
  readonly goodbye = JSON.stringify({ type: 'CloseStream' });
  readonly #audio: SentAudio;
  /** The final segments of the turn. */
  #segments: string[] = [];
  #words: HeardWord[] = [];
  #language: string | undefined;

  constructor(target: WebSocketTarget, sampleRateHz: number) {
    this.target = target;
    this.#audio = new SentAudio(sampleRateHz);
  }

  encode(samples: Int16Array): Uint8Array {
    return this.#audio.encode(samples);
  }

  finalize(): string {
    this.#audio.ask();
    return JSON.stringify({ type: 'Finalize' });
  }

  decode(text: string): readonly RecognitionEvent[] {
    const read = message.parse(JSON.parse(text));
    switch (read.type) {
      case 'Results':
        return this.#onResults(results.parse(read));
      case 'UtteranceEnd':
        return this.#segments.length === 0 ? [] : [this.#endTurn()];
      case 'Error': {
        const { description, message: detail, variant } = failure.parse(read);
        throw reportedError('deepgram', variant, description || detail, !REFUSED.test(variant));
      }
      default:
        return [];
    }
  }

  #onResults(result: z.infer<typeof results>): readonly RecognitionEvent[] {
    const [best] = result.channel.alternatives;
    const text = best?.transcript.trim() ?? '';
    const words = (best?.words ?? []).map(({ word, punctuated_word, start, end, confidence }) => ({
      word: punctuated_word ?? word,
      startMs: start * 1000,
      endMs: end * 1000,
      confidence,
    }));
    this.#language = best?.languages?.[0] ?? this.#language;
    if (result.is_final && text !== '') {
      this.#segments.push(text);
      this.#words.push(...words);
    }
    if (this.#isAnswer(result, text)) return [this.#endTurn()];
    const hasWords = this.#segments.length > 0 || text !== '';
    if (result.speech_final) return hasWords ? [this.#endTurn()] : [];
    if (text === '') return [];
    return [{ type: 'interim', transcript: this.#transcript(result.is_final ? [] : [text], words) }];
  }

  /**
   * Returns true for the answer to a request: its own result, or one that follows the requested position when nothing
   * was left to report.
   */
  #isAnswer({ from_finalize, is_final, start, duration }: z.infer<typeof results>, text: string): boolean {
    if (this.#audio.askedMs === undefined) return false;
    const isLater = (start + duration) * 1000 >= this.#audio.askedMs;
    return from_finalize || (isLater && (is_final || text === ''));
  }

  #endTurn(): RecognitionEvent {
    const transcript = this.#transcript([], []);
    this.#audio.askedMs = undefined;
    this.#segments = [];
    this.#words = [];
    this.#language = undefined;
    return { type: 'final', transcript };
  }

  #transcript(segments: readonly string[], words: readonly HeardWord[]) {
    const all = segments.length === 0 ? this.#words : [...this.#words, ...words];
    return turnTranscript([...this.#segments, ...segments].join(' '), all, this.#language);
  }
}

/** The audio of one connection, and the position up to which its words were asked for. */
export class SentAudio {
  readonly #sampleRateHz: number;
  #samples = 0;
  /** The position in ms up to which an answer is due; undefined while none is. */
  askedMs: number | undefined;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  encode(samples: Int16Array): Uint8Array {
    this.#samples += samples.length;
    return encodeL16(samples);
  }

  /** The words of everything sent so far are asked for. */
  ask(): void {
    this.askedMs = (this.#samples * 1000) / this.#sampleRateHz;
  }
}
