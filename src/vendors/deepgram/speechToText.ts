import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import { speechRateHz } from '../../media/resample/resampler.ts';
import type {
  RecognitionEvent,
  StreamingSpeechToText,
  TurnTranscript,
} from '../../models/ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../../models/providerOptions.ts';
import {
  type ProtocolConnection,
  type ProtocolOptions,
  type RecognitionProtocol,
  reportedError,
  turnTranscript,
} from '../../models/recognition/protocol.ts';
import {
  createSocketRecognizer,
  type VendorRecognizerDeps,
  vendorRecognizerDeps,
} from '../../models/recognition/socketRecognizer.ts';
import { type WebSocketTarget, webSocketUrl } from '../../models/sockets/target.ts';
import { novaProtocol, SentAudio } from './nova.ts';
import {
  authorization,
  BASE_URL,
  type DeepgramSettings,
  deepgramModel,
  FLUX_ENGLISH_MODEL,
  FLUX_MULTILINGUAL_MODEL,
  FLUX_OPTIONS,
  isFluxModel,
  NOVA_MODEL,
  NOVA_OPTIONS,
} from './vendor.ts';

/** The length of the audio chunks that the model is trained on. */
const CHUNK_MS = 80;
const turnInfo = z.object({
  event: z.string(),
  transcript: z.string(),
  audio_window_end: z.number().default(0),
  words: z
    .array(
      z.object({
        word: z.string(),
        confidence: z.number().optional(),
        start: z.number().optional(),
        end: z.number().optional(),
      }),
    )
    .default([]),
  languages: z.array(z.string()).optional(),
});
const message = z.looseObject({ type: z.string() });
const failure = z.object({ code: z.string().default(''), description: z.string().default('') });

/** Codes of requests that would be refused again. */
const REFUSED = /INVALID|UNAUTHORIZED|FORBIDDEN|BAD_REQUEST|UNSUPPORTED|INSUFFICIENT|UNPARSABLE/;

interface FluxSettings extends DeepgramSettings {
  /** The model. Default: chosen by the language. */
  readonly model: string | undefined;
}

/**
 * Creates a recognizer. Flux models detect turns; others, such as `nova-3`, have the older protocol. Default: Flux, or
 * `nova-3` for a language that Flux does not support.
 *
 * @throws {ZodError} When the options are not those of the model.
 */
export function createDeepgramSpeechToText(deps: VendorRecognizerDeps): StreamingSpeechToText {
  const { baseUrl = BASE_URL, apiKey, model, options = {} } = deps;
  const settings = { baseUrl, apiKey, options };
  if (model !== undefined && !isFluxModel(model))
    return createSocketRecognizer(novaProtocol({ ...settings, model }), deps);
  const flux = createSocketRecognizer(fluxProtocol({ ...settings, model }), deps);
  if (model !== undefined) return flux;
  // Options of Flux alone mean nothing to it.
  const shared = Object.entries(FLUX_OPTIONS.parse(options)).filter(([name]) => name in NOVA_OPTIONS.shape);
  const nova = novaProtocol({ ...settings, model: NOVA_MODEL, options: Object.fromEntries(shared) });
  const other = createSocketRecognizer(nova, deps);
  return {
    ...flux,
    select({ language, languages = language === undefined ? [] : [language] }) {
      return deepgramModel(languages) === NOVA_MODEL ? other : flux;
    },
    async close() {
      await Promise.all([flux.close(), other.close()]);
    },
  };
}

export const createSpeechToText = (options: SpeechToTextOptions) =>
  createDeepgramSpeechToText(vendorRecognizerDeps(options));

/**
 * The protocol of Flux models, which detect turns.
 *
 * @see https://developers.deepgram.com/reference/speech-to-text/listen-flux
 */
function fluxProtocol(settings: FluxSettings): RecognitionProtocol {
  const options = FLUX_OPTIONS.parse(settings.options);
  return {
    name: 'deepgram',
    detectsTurns: true,
    secret: settings.apiKey,
    chunkMs: CHUNK_MS,
    sampleRateHz: speechRateHz,
    open: (asked) => new FluxConnection(targetOf(settings, options, asked), asked.sampleRateHz),
  };
}

function targetOf(
  { baseUrl, apiKey, model: given }: FluxSettings,
  options: z.infer<typeof FLUX_OPTIONS>,
  { sampleRateHz, language, languages, keyterms }: ProtocolOptions,
): WebSocketTarget {
  const codes = (languages ?? (language === undefined ? [] : [language])).map((tag) => languageCode(tag));
  const isEnglish = codes.every((code) => code === 'en');
  const model = given ?? (isEnglish ? FLUX_ENGLISH_MODEL : FLUX_MULTILINGUAL_MODEL);
  const query = {
    model,
    encoding: 'linear16',
    sample_rate: sampleRateHz,
    ...options,
    keyterm: keyterms,
    // Only the multilingual model takes hints.
    language_hint: model.endsWith('-multi') ? [...new Set(codes)] : undefined,
  };
  return { url: webSocketUrl(baseUrl, '/v2/listen', query).href, ...authorization(apiKey) };
}

class FluxConnection implements ProtocolConnection {
  readonly target: WebSocketTarget;
  readonly goodbye = JSON.stringify({ type: 'CloseStream' });
  readonly #audio: SentAudio;

  constructor(target: WebSocketTarget, sampleRateHz: number) {
    this.target = target;
    this.#audio = new SentAudio(sampleRateHz);
  }

  encode(samples: Int16Array): Uint8Array {
    return this.#audio.encode(samples);
  }

  finalize(): string {
    this.#audio.ask();
    return JSON.stringify({ type: 'ForceEndTurn' });
  }

  decode(text: string): readonly RecognitionEvent[] {
    const read = message.parse(JSON.parse(text));
    if (read.type === 'TurnInfo') return this.#onTurnInfo(turnInfo.parse(read));
    if (read.type !== 'Error') return [];
    const { code, description } = failure.parse(read);
    throw reportedError('deepgram', code, description, !REFUSED.test(code));
  }

  #onTurnInfo(info: z.infer<typeof turnInfo>): readonly RecognitionEvent[] {
    const transcript = toTranscript(info);
    switch (info.event) {
      case 'EagerEndOfTurn':
        return [{ type: 'interim', transcript }, { type: 'eager_end' }];
      case 'TurnResumed':
        return [{ type: 'turn_resumed' }, { type: 'interim', transcript }];
      case 'EndOfTurn':
        this.#audio.askedMs = undefined;
        return [{ type: 'final', transcript }, { type: 'end_of_turn' }];
      default:
        return transcript.text === '' ? this.#onSilence(info) : [{ type: 'interim', transcript }];
    }
  }

  /**
   * Answers a request when audio without words follows the requested position: outside of a turn the vendor ignores it.
   */
  #onSilence(info: z.infer<typeof turnInfo>): readonly RecognitionEvent[] {
    if (this.#audio.askedMs === undefined || info.audio_window_end * 1000 < this.#audio.askedMs) return [];
    this.#audio.askedMs = undefined;
    return [{ type: 'final', transcript: { text: '' } }];
  }
}

function toTranscript({ transcript, words, languages }: z.infer<typeof turnInfo>): TurnTranscript {
  const heard = words.map(({ word, confidence, start, end }) => ({
    word,
    confidence,
    ...(start === undefined || end === undefined ? {} : { startMs: start * 1000, endMs: end * 1000 }),
  }));
  return turnTranscript(transcript, heard, languages?.[0]);
}
