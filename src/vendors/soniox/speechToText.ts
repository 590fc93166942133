import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import { speechRateHz } from '../../media/resample/resampler.ts';
import type { RecognitionEvent, StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../../models/providerOptions.ts';
import {
  encodeL16,
  type HeardWord,
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
import { bearer, type WebSocketTarget, webSocketUrl } from '../../models/sockets/target.ts';
import { BASE_URL, MODEL, OPTIONS } from './vendor.ts';

const CHUNK_MS = 40;
/** The connection is closed after 20 s without audio. */
const KEEP_ALIVE_MS = 8000;
/** The age at which a connection is replaced. Sessions end after 300 minutes. */
const MAX_AGE_MS = 290 * 60_000;
/** The codes of requests that would be refused again. */
const REFUSED_CODES = new Set([400, 401, 402, 403, 404]);
const END_TOKEN = '<end>';
const FINALIZED_TOKEN = '<fin>';

const token = z.object({
  text: z.string(),
  is_final: z.boolean().default(false),
  start_ms: z.number().optional(),
  end_ms: z.number().optional(),
  confidence: z.number().optional(),
  language: z.string().optional(),
});
type Token = z.infer<typeof token>;
const message = z.object({
  tokens: z.array(token).default([]),
  error_code: z.number().optional(),
  error_message: z.string().default(''),
});

/**
 * Real-time recognition of many languages, which are told word by word.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://soniox.com/docs/api-reference/stt/websocket-api
 */
export function createSonioxSpeechToText(deps: VendorRecognizerDeps): StreamingSpeechToText {
  return createSocketRecognizer(sonioxProtocol(deps), deps);
}

export const createSpeechToText = (options: SpeechToTextOptions) =>
  createSonioxSpeechToText(vendorRecognizerDeps(options));

function sonioxProtocol(deps: VendorRecognizerDeps): RecognitionProtocol {
  const options = OPTIONS.parse(deps.options ?? {});
  const { baseUrl = BASE_URL, apiKey, model = MODEL } = deps;
  const target = {
    url: webSocketUrl(baseUrl, '/transcribe-websocket').href,
    ...bearer(apiKey),
  };
  return {
    name: 'soniox',
    detectsTurns: true,
    secret: apiKey,
    chunkMs: CHUNK_MS,
    maxAgeMs: MAX_AGE_MS,
    sampleRateHz: speechRateHz,
    keepAlive: { message: JSON.stringify({ type: 'keepalive' }), intervalMs: KEEP_ALIVE_MS },
    open: (asked) => new SonioxConnection(target, greetingOf(model, options, asked)),
  };
}

function greetingOf(
  model: string,
  options: z.infer<typeof OPTIONS>,
  { sampleRateHz, language, languages, keyterms = [] }: ProtocolOptions,
): string {
  const codes = (languages ?? (language === undefined ? [] : [language])).map((tag) => languageCode(tag));
  return JSON.stringify({
    model,
    audio_format: 'pcm_s16le',
    sample_rate: sampleRateHz,
    num_channels: 1,
    enable_endpoint_detection: true,
    enable_language_identification: true,
    language_hints: codes.length === 0 ? undefined : [...new Set(codes)],
    context: keyterms.length > 0 ? { terms: keyterms } : undefined,
    ...options,
  });
}

class SonioxConnection implements ProtocolConnection {
  readonly target: WebSocketTarget;
  readonly greeting: string;
  /** An empty message ends the audio. */
  readonly goodbye = '';
  readonly encode = encodeL16;
  /** The final tokens of the turn, each of which is sent once. */
  #final: Token[] = [];

  constructor(target: WebSocketTarget, greeting: string) {
    this.target = target;
    this.greeting = greeting;
  }

  finalize(): string {
    return JSON.stringify({ type: 'finalize' });
  }

  decode(text: string): readonly RecognitionEvent[] {
    const { tokens, error_code, error_message } = message.parse(JSON.parse(text));
    if (error_code !== undefined)
      throw reportedError('soniox', error_code, error_message, !REFUSED_CODES.has(error_code));
    const events: RecognitionEvent[] = [];
    const open: Token[] = [];
    let isChanged = false;
    for (const read of tokens) {
      if (read.text === END_TOKEN || read.text === FINALIZED_TOKEN) {
        const isAnswer = read.text === FINALIZED_TOKEN;
        if (isAnswer || this.#final.length > 0) events.push(this.#endTurn(), { type: 'end_of_turn' });
        isChanged = false;
        continue;
      }
      isChanged = true;
      if (read.is_final) this.#final.push(read);
      else open.push(read);
    }
    const transcript = toTranscript([...this.#final, ...open]);
    if (isChanged && transcript.text !== '') events.push({ type: 'interim', transcript });
    return events;
  }

  #endTurn(): RecognitionEvent {
    const transcript = toTranscript(this.#final);
    this.#final = [];
    return { type: 'final', transcript };
  }
}

function toTranscript(tokens: readonly Token[]) {
  return turnTranscript(tokens.map(({ text }) => text).join(''), toWords(tokens), mostSpoken(tokens));
}

/** A token that begins with a space, or is of a script without spaces, begins a word. */
function toWords(tokens: readonly Token[]): HeardWord[] {
  const words: HeardWord[] = [];
  for (const { text, start_ms, end_ms, confidence } of tokens) {
    const last = words.at(-1);
    if (!last || /^[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(text))
      words.push({
        word: text.trim(),
        confidence,
        ...(start_ms === undefined || end_ms === undefined ? {} : { startMs: start_ms, endMs: end_ms }),
      });
    else
      words[words.length - 1] = {
        ...last,
        word: last.word + text.trimEnd(),
        endMs: end_ms ?? last.endMs,
      };
  }
  return words;
}

function mostSpoken(tokens: readonly Token[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { language, text } of tokens)
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + text.length);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0];
}
