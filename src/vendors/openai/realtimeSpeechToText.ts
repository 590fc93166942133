import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import { OPENAI_LIVE_TRANSCRIPTION_MODEL } from '../../models/ports/speechModels.ts';
import type { RecognitionEvent, StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import {
  encodeL16,
  type ProtocolConnection,
  type ProtocolOptions,
  type RecognitionProtocol,
  reportedError,
} from '../../models/recognition/protocol.ts';
import {
  createSocketRecognizer,
  type VendorRecognizerDeps,
} from '../../models/recognition/socketRecognizer.ts';
import { bearer, type WebSocketTarget, webSocketUrl } from '../../models/sockets/target.ts';
import { OPENAI_BASE_URL, withVersion } from './endpoint.ts';
import { isLiveModel, OPENAI_LIVE_OPTIONS, OPENAI_TURN_OPTIONS, takesKeywords } from './vendor.ts';

/** The only rate that is taken. */
const SAMPLE_RATE_HZ = 24_000;
/** Turns that are not complete; a caller has one or two. */
const MAX_ITEMS = 100;
const CHUNK_MS = 40;
/** The age at which a connection is replaced. Sessions end after an hour. */
const MAX_AGE_MS = 55 * 60_000;
/** A request for words when there is no audio left. */
const NOTHING_TO_COMMIT = 'input_audio_buffer_commit_empty';
const MAY_PASS = /session_expired|rate_limit|server_error|overloaded|timeout/;

const item = z.object({ item_id: z.string() });
const delta = item.extend({ delta: z.string().default('') });
const completed = item.extend({
  transcript: z.string(),
  languages: z.array(z.object({ code: z.string() })).nullish(),
});
const failure = z.object({
  error: z.object({
    message: z.string().default(''),
    type: z.string().nullish(),
    code: z.string().nullish(),
  }),
});
const message = z.looseObject({ type: z.string() });

/**
 * Recognition by a Realtime transcription session.
 *
 * @throws {ZodError} When the options are not those of the model.
 * @see https://platform.openai.com/docs/guides/realtime-transcription
 */
export function createOpenAiRealtimeSpeechToText(deps: VendorRecognizerDeps): StreamingSpeechToText {
  return createSocketRecognizer(realtimeProtocol(deps), deps);
}

function realtimeProtocol(deps: VendorRecognizerDeps): RecognitionProtocol {
  const { baseUrl = OPENAI_BASE_URL, apiKey, model = OPENAI_LIVE_TRANSCRIPTION_MODEL, options = {} } = deps;
  const isLive = isLiveModel(model);
  const input = isLive ? liveInput(model, options) : turnInput(model, options);
  const target = {
    url: webSocketUrl(`${withVersion(baseUrl)}/`, 'realtime', { intent: 'transcription' }).href,
    ...bearer(apiKey),
  };
  return {
    name: 'openai',
    detectsTurns: !isLive,
    secret: apiKey,
    chunkMs: CHUNK_MS,
    maxAgeMs: MAX_AGE_MS,
    sampleRateHz: () => SAMPLE_RATE_HZ,
    open: (asked) => new RealtimeConnection(target, input(asked), !isLive),
  };
}

type InputOf = (asked: ProtocolOptions) => Record<string, unknown>;

function liveInput(model: string, given: unknown): InputOf {
  const { delay, noise_reduction } = OPENAI_LIVE_OPTIONS.parse(given);
  return (asked) => ({
    transcription: { model, delay, language: languageCode(asked.language), ...expected(model, asked) },
    turn_detection: null,
    noise_reduction: noise_reduction ? { type: noise_reduction } : undefined,
  });
}

function turnInput(model: string, given: unknown): InputOf {
  const { turn_detection, eagerness, silence_duration_ms, noise_reduction } =
    OPENAI_TURN_OPTIONS.parse(given);
  return (asked) => ({
    transcription: { model, language: languageCode(asked.language), ...expected(model, asked) },
    turn_detection:
      turn_detection === 'semantic_vad'
        ? { type: turn_detection, eagerness }
        : { type: turn_detection, silence_duration_ms },
    noise_reduction: noise_reduction ? { type: noise_reduction } : undefined,
  });
}

/** Returns the expected words and languages in the form that the model accepts. */
function expected(model: string, { keyterms = [], languages = [] }: ProtocolOptions): object {
  if (takesKeywords(model))
    return {
      keywords: keyterms.length > 0 ? keyterms : undefined,
      languages: languages.length > 0 ? [...new Set(languages.map((tag) => languageCode(tag)))] : undefined,
    };
  if (keyterms.length === 0 || isLiveModel(model)) return {};
  return { prompt: `Words that may be said: ${keyterms.join(', ')}` };
}

class RealtimeConnection implements ProtocolConnection {
  readonly target: WebSocketTarget;
  readonly greeting: string;
  readonly #detectsTurns: boolean;
  /** The words of the turns that are not complete, by item, in the order in which they were spoken. */
  readonly #items = new Map<string, string>();

  constructor(target: WebSocketTarget, input: Record<string, unknown>, detectsTurns: boolean) {
    this.target = target;
    this.#detectsTurns = detectsTurns;
    const format = { type: 'audio/pcm', rate: SAMPLE_RATE_HZ };
    const session = { type: 'transcription', audio: { input: { format, ...input } } };
    this.greeting = JSON.stringify({ type: 'session.update', session });
  }

  encode(samples: Int16Array): string {
    const audio = Buffer.from(encodeL16(samples)).toString('base64');
    return JSON.stringify({ type: 'input_audio_buffer.append', audio });
  }

  finalize(): string {
    return JSON.stringify({ type: 'input_audio_buffer.commit' });
  }

  decode(text: string): readonly RecognitionEvent[] {
    const read = message.parse(JSON.parse(text));
    switch (read.type) {
      case 'input_audio_buffer.committed':
        this.#open(item.parse(read).item_id);
        return [];
      case 'conversation.item.input_audio_transcription.delta': {
        const { item_id, delta: added } = delta.parse(read);
        this.#items.set(item_id, this.#open(item_id) + added);
        return this.#isCurrent(item_id) ? this.#interim() : [];
      }
      case 'conversation.item.input_audio_transcription.completed':
        return this.#onCompleted(completed.parse(read));
      case 'conversation.item.input_audio_transcription.failed':
      case 'error':
        return this.#onError(failure.parse(read).error);
      default:
        return [];
    }
  }

  #open(id: string): string {
    const words = this.#items.get(id) ?? '';
    this.#items.set(id, words);
    if (this.#items.size > MAX_ITEMS) throw new RangeError('too many turns are open');
    return words;
  }

  /** Returns true when the words can be reported: words of a later turn wait for those of the turn before it. */
  #isCurrent(id: string): boolean {
    return this.#items.keys().next().value === id;
  }

  #interim(): readonly RecognitionEvent[] {
    const text = this.#items.values().next().value?.trim() ?? '';
    return text === '' ? [] : [{ type: 'interim', transcript: { text } }];
  }

  #onCompleted({ item_id, transcript, languages }: z.infer<typeof completed>): readonly RecognitionEvent[] {
    this.#items.delete(item_id);
    const language = languages?.[0]?.code;
    return [
      { type: 'final', transcript: { text: transcript.trim(), language } },
      ...(this.#detectsTurns ? [{ type: 'end_of_turn' } as const] : []),
      ...this.#interim(),
    ];
  }

  #onError({ message: told, type, code }: z.infer<typeof failure>['error']): readonly RecognitionEvent[] {
    if (code === NOTHING_TO_COMMIT)
      return this.#items.size > 0 ? [] : [{ type: 'final', transcript: { text: '' } }];
    throw reportedError(
      'openai',
      code ?? type ?? undefined,
      told,
      MAY_PASS.test(`${type ?? ''} ${code ?? ''}`),
    );
  }
}
