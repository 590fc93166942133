import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import { speechRateHz } from '../../media/resample/resampler.ts';
import type { RecognitionEvent, StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../../models/providerOptions.ts';
import {
  encodeL16,
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
import { assemblyAiModel, BASE_URL, ENGLISH_MODEL, OPTIONS } from './vendor.ts';

/** Messages of 50 to 1000 ms are taken. */
const CHUNK_MS = 60;
const MIN_CHUNK_MS = 50;
/** The age at which a connection is replaced. Sessions end after 3 hours. */
const MAX_AGE_MS = 170 * 60_000;
/**
 * The codes, in errors and as close codes, of an account or a request that would be refused again. A retry after any
 * other code may succeed.
 */
const REFUSED_CODES = new Set([1008, 3006, 4000, 4001, 4002, 4003, 4101]);
const isRefusal = (code: number, reason: string) =>
  REFUSED_CODES.has(code) && !/concurrent|too many/i.test(reason);

const turn = z.object({
  turn_order: z.number(),
  end_of_turn: z.boolean(),
  transcript: z.string(),
  utterance: z.string().default(''),
  words: z
    .array(
      z.object({
        text: z.string(),
        start: z.number(),
        end: z.number(),
        confidence: z.number().optional(),
        word_is_final: z.boolean().default(true),
      }),
    )
    .default([]),
  language_code: z.string().optional(),
});
const message = z.looseObject({ type: z.string() });
const failure = z.object({ error_code: z.number().optional(), error: z.string().default('') });

/**
 * Creates a recognizer for Universal-Streaming.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://www.assemblyai.com/docs/streaming/message-sequence
 */
export function createAssemblyAiSpeechToText(deps: VendorRecognizerDeps): StreamingSpeechToText {
  return createSocketRecognizer(assemblyAiProtocol(deps), deps);
}

export const createSpeechToText = (options: SpeechToTextOptions) =>
  createAssemblyAiSpeechToText(vendorRecognizerDeps(options));

function assemblyAiProtocol(deps: VendorRecognizerDeps): RecognitionProtocol {
  const options = OPTIONS.parse(deps.options ?? {});
  return {
    name: 'assemblyai',
    detectsTurns: true,
    secret: deps.apiKey,
    isRefusal,
    chunkMs: CHUNK_MS,
    minChunkMs: MIN_CHUNK_MS,
    maxAgeMs: MAX_AGE_MS,
    sampleRateHz: speechRateHz,
    open: (asked) => new AssemblyAiConnection(targetOf(deps, options, asked)),
  };
}

function targetOf(
  { baseUrl = BASE_URL, apiKey, model }: VendorRecognizerDeps,
  options: z.infer<typeof OPTIONS>,
  { sampleRateHz, language, languages, keyterms = [] }: ProtocolOptions,
): WebSocketTarget {
  const tags = languages ?? (language === undefined ? [] : [language]);
  const speechModel = model ?? assemblyAiModel(tags);
  const codes = options.language_codes ?? [...new Set(tags.map((tag) => languageCode(tag)))];
  const query = {
    speech_model: speechModel,
    sample_rate: sampleRateHz,
    encoding: 'pcm_s16le',
    language_detection: speechModel === ENGLISH_MODEL ? undefined : true,
    ...options,
    keyterms_prompt: list(keyterms),
    // Others refuse it.
    language_codes: speechModel.startsWith('universal-3-') ? list(codes) : undefined,
    redact_pii_policies: list(options.redact_pii_policies),
  };
  const url = webSocketUrl(baseUrl, '/v3/ws', query).href;
  return { url, headers: apiKey === undefined ? undefined : { authorization: apiKey } };
}

/** Formats a list as the vendor's query parameters expect it. */
function list(entries: readonly string[] = []): string | undefined {
  return entries.length > 0 ? JSON.stringify(entries) : undefined;
}

class AssemblyAiConnection implements ProtocolConnection {
  readonly target: WebSocketTarget;
  readonly goodbye = JSON.stringify({ type: 'Terminate' });
  readonly encode = encodeL16;
  /** A formatted copy of an ended turn follows where the account asks for it. */
  #endedTurn = -1;
  #state: 'silent' | 'open' | 'eager_end' = 'silent';
  #text = '';

  constructor(target: WebSocketTarget) {
    this.target = target;
  }

  /** A request outside of a turn has no answer. */
  finalize(): string | undefined {
    return this.#state === 'silent' ? undefined : JSON.stringify({ type: 'ForceEndpoint' });
  }

  decode(text: string): readonly RecognitionEvent[] {
    const read = message.parse(JSON.parse(text));
    if (read.type === 'Turn') return this.#onTurn(turn.parse(read));
    if (read.type !== 'Error') return [];
    const { error_code, error } = failure.parse(read);
    throw reportedError('assemblyai', error_code, error, !isRefusal(error_code ?? 0, error));
  }

  #onTurn(read: z.infer<typeof turn>): readonly RecognitionEvent[] {
    if (read.turn_order <= this.#endedTurn) return [];
    const transcript = toTranscript(read);
    if (read.end_of_turn) {
      this.#endedTurn = read.turn_order;
      this.#state = 'silent';
      this.#text = '';
      return [{ type: 'final', transcript }, { type: 'end_of_turn' }];
    }
    if (transcript.text === '') return [];
    const isResumed = this.#state === 'eager_end' && transcript.text !== this.#text;
    const isEager = read.utterance !== '' && (this.#state !== 'eager_end' || isResumed);
    if (isEager) this.#state = 'eager_end';
    else if (this.#state !== 'eager_end' || isResumed) this.#state = 'open';
    this.#text = transcript.text;
    return [
      ...(isResumed ? [{ type: 'turn_resumed' } as const] : []),
      // The words of an eager end stand.
      ...(this.#state === 'eager_end' && !isEager ? [] : [{ type: 'interim', transcript } as const]),
      ...(isEager ? [{ type: 'eager_end' } as const] : []),
    ];
  }
}

/** `transcript` lacks the words that may still change. */
function toTranscript({ transcript, words, language_code }: z.infer<typeof turn>) {
  const open = words.filter(({ word_is_final }) => !word_is_final).map(({ text }) => text);
  const heard = words.map(({ text, start, end, confidence }) => ({
    word: text,
    startMs: start,
    endMs: end,
    confidence,
  }));
  return turnTranscript([transcript, ...open].filter((part) => part !== '').join(' '), heard, language_code);
}
