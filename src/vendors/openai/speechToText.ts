import { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../media/wav.ts';
import {
  type StreamDeps,
  type StreamedResponse,
  streamWithRetry,
} from '../../models/failover/streamWithRetry.ts';
import { DONE, type EventData, eventData } from '../../models/http/serverSentEvents.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { RecognitionOptions, SpeechToText, Transcript } from '../../models/ports/speechToText.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { asText, isRecord, streamedError, toModelError } from './errors.ts';
import { takesKeywords } from './vendor.ts';

/** The longest hint; models ignore longer ones. */
const MAX_HINT_CHARACTERS = 800;
/**
 * The longest transcript of an utterance, which lasts a minute at most. It ends the answer of a model that repeats
 * itself.
 */
const MAX_TRANSCRIPT_CHARACTERS = 4000;

export interface OpenAiSpeechToTextDeps extends StreamDeps {
  readonly endpoint: OpenAiEndpoint;
  /** The model's name, such as `gpt-4o-mini-transcribe`. */
  readonly model: string;
}

/**
 * Batch speech recognition by an OpenAI-compatible endpoint: an utterance is sent when it is finalized, and its
 * transcript streams back where the endpoint supports that.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
export function createOpenAiSpeechToText(deps: OpenAiSpeechToTextDeps): SpeechToText {
  return {
    name: 'openai',
    openStream(options) {
      let chunks: Int16Array[] = [];
      return {
        push: (samples) => void chunks.push(samples.slice()),
        finalize: (signal) => transcribe(deps, options, chunks, signal),
        close() {
          chunks = [];
        },
      };
    },
    close: () => deps.endpoint.close(),
  };
}

async function transcribe(
  deps: OpenAiSpeechToTextDeps,
  options: RecognitionOptions,
  chunks: readonly Int16Array[],
  signal: AbortSignal,
): Promise<Transcript> {
  const form = await encodeForm(deps.model, options, chunks);
  const source = {
    open: (attemptSignal: AbortSignal) => open(deps.endpoint, form, attemptSignal),
    toModelError: (error: unknown, beforeFirstToken: boolean) =>
      toModelError(error, deps.endpoint, beforeFirstToken),
  };
  let transcript = '';
  let language: string | undefined;
  for await (const part of streamWithRetry(source, deps, signal)) {
    transcript = part.isFinal ? part.text : transcript + part.text;
    language = part.language ?? language;
    if (transcript.length > MAX_TRANSCRIPT_CHARACTERS)
      throw new ModelError('model_malformed', "The endpoint's transcript does not end", {
        beforeFirstToken: false,
      });
    if (transcript.trim() !== '') options.onInterim?.(transcript.trim());
  }
  return { text: transcript.trim(), language };
}

interface EncodedForm {
  readonly contentType: string;
  readonly body: Buffer;
}

async function open(
  endpoint: OpenAiEndpoint,
  { contentType, body }: EncodedForm,
  signal: AbortSignal,
): Promise<TranscriptDecoder> {
  const response = await endpoint.client
    .post('/audio/transcriptions', { body, headers: { 'content-type': contentType }, signal })
    .asResponse();
  return new TranscriptDecoder(await eventData(response), endpoint);
}

interface TranscriptPart {
  readonly text: string;
  /** True for the whole transcript, false for the next part of it. */
  readonly isFinal: boolean;
  /** The code of the spoken language; undefined when the model does not report it. */
  readonly language?: string | undefined;
}

class TranscriptDecoder implements StreamedResponse<TranscriptPart> {
  readonly chunks: AsyncIterable<EventData> | Iterable<EventData>;
  readonly #endpoint: OpenAiEndpoint;
  #hasStarted = false;
  #isDone = false;

  constructor(chunks: AsyncIterable<EventData> | Iterable<EventData>, endpoint: OpenAiEndpoint) {
    this.chunks = chunks;
    this.#endpoint = endpoint;
  }

  get isComplete(): boolean {
    return this.#hasStarted && this.#isDone;
  }

  decode({ data }: EventData): TranscriptPart[] {
    if (data === DONE) this.#isDone = true;
    if (this.#isDone) return [];
    const part = readPart(data, this.#endpoint);
    if (!part) return [];
    this.#hasStarted = true;
    this.#isDone = part.isFinal;
    return [part];
  }

  finish(): TranscriptPart[] {
    if (!this.#hasStarted) throw malformed('something other than a transcript');
    return [];
  }
}

function readPart(data: string, endpoint: OpenAiEndpoint): TranscriptPart | undefined {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    throw malformed('invalid JSON as a transcript');
  }
  if (!isRecord(event)) return undefined;
  if (event.error) throw streamedError(event.error, endpoint);
  if (event.type === 'transcript.text.delta') return { text: asText(event.delta), isFinal: false };
  const { type, text } = event;
  if (typeof text !== 'string' || type === 'transcript.text.segment') return undefined;
  const { success, data: told } = languagesTold.safeParse(event);
  const language = success ? told.languages[0]?.code : undefined;
  // Servers of Whisper stream segments, which have no type and are more than one for a longer utterance.
  return type === 'transcript.text.done'
    ? { text, isFinal: true, language }
    : { text: `${text.trim()} `, isFinal: false, language };
}

const languagesTold = z.object({ languages: z.array(z.object({ code: z.string() })) });

function malformed(what: string): ModelError {
  return new ModelError('model_malformed', `The model's endpoint sent ${what}`);
}

/** Encoded here, since the SDK's fetch is not that of Node, whose `FormData` it does not know. */
async function encodeForm(
  model: string,
  { sampleRateHz, language, languages = [], keyterms = [], expectedAnswers }: RecognitionOptions,
  chunks: readonly Int16Array[],
): Promise<EncodedForm> {
  const form = new FormData();
  form.set('model', model);
  form.set('response_format', 'json');
  form.set('stream', 'true');
  // The endpoint takes the language of a tag such as zh-TW, without the region.
  const code = languageCode(language);
  if (code?.length === 2) form.set('language', code);
  const hasKeywords = takesKeywords(model);
  if (hasKeywords) {
    for (const keyterm of keyterms) form.append('keywords[]', keyterm);
    for (const tag of new Set(languages.map((one) => languageCode(one)))) form.append('languages[]', tag);
  }
  const hint = [
    ...(keyterms.length > 0 && !hasKeywords ? [`Words that may be said: ${keyterms.join(', ')}`] : []),
    ...(expectedAnswers?.length ? [`Possible answers: ${expectedAnswers.join('; ')}`] : []),
  ].join('. ');
  if (hint !== '') form.set('prompt', hint.slice(0, MAX_HINT_CHARACTERS));
  form.set('file', new File([encodeWav(chunks, sampleRateHz)], 'speech.wav', { type: 'audio/wav' }));
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  return { contentType, body: Buffer.from(await encoded.arrayBuffer()) };
}

function encodeWav(chunks: readonly Int16Array[], sampleRateHz: number): Uint8Array<ArrayBuffer> {
  const lengthBytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const wav = new Uint8Array(WAV_HEADER_BYTES + lengthBytes);
  wav.set(wavHeader({ sampleRateHz, channels: 1 }, lengthBytes));
  let offset = WAV_HEADER_BYTES;
  for (const { buffer, byteOffset, byteLength } of chunks) {
    wav.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return wav;
}
