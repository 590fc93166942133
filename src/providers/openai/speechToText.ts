import { WAV_HEADER_BYTES, wavHeader } from '../../media/wav.ts';
import { ModelError } from '../ports/modelError.ts';
import type { RecognitionOptions, SpeechToText, Transcript } from '../ports/speechToText.ts';
import { byteStreamOf } from './byteStream.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { streamedError, toModelError } from './errors.ts';
import { multipartBody } from './multipart.ts';
import { type PatienceDeps, patiently } from './patience.ts';
import { createResponseEvents } from './responseEvents.ts';
import { isRecord, textOf } from './wire.ts';

/** Hints beyond this are more than a model heeds. */
const LONGEST_HINT_CHARACTERS = 800;
/** Of an utterance, which lasts a minute at most; a recogniser that hears more is caught in a loop. */
const LONGEST_TRANSCRIPT_CHARACTERS = 4000;

export interface OpenAiTranscriptionDeps extends PatienceDeps {
  readonly endpoint: OpenAiEndpoint;
  /** Such as `gpt-4o-mini-transcribe`. */
  readonly model: string;
}

/**
 * Recognition behind an OpenAI-compatible endpoint. An utterance is sent as a whole as soon as it seems to be over, and
 * its words come back as a stream where the endpoint knows that, else in one piece.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
export function createOpenAiSpeechToText(deps: OpenAiTranscriptionDeps): SpeechToText {
  return {
    name: 'openai',
    openStream(request) {
      let heard: Int16Array[] = [];
      return {
        push: (samples) => void heard.push(samples.slice()),
        finalize: (signal) => transcribe(deps, request, [...heard], signal),
        close() {
          heard = [];
        },
      };
    },
    close: async () => undefined,
  };
}

async function transcribe(
  deps: OpenAiTranscriptionDeps,
  request: RecognitionOptions,
  heard: readonly Int16Array[],
  signal: AbortSignal,
): Promise<Transcript> {
  const { contentType, body } = formOf(deps.model, request, heard);
  let text = '';
  const attempt = (attemptSignal: AbortSignal) => send(deps, body, contentType, attemptSignal);
  for await (const event of patiently(attempt, signal, deps)) {
    text = event.isWhole ? event.text : text + event.text;
    if (text.length > LONGEST_TRANSCRIPT_CHARACTERS)
      throw malformed('hears more words than anybody can say', false);
    if (text.trim() !== '') request.onInterim?.(text.trim());
  }
  return { text: text.trim() };
}

interface Words {
  readonly text: string;
  /** All of them, not the next ones. */
  readonly isWhole: boolean;
}

async function* send(
  { endpoint, clock }: OpenAiTranscriptionDeps,
  body: Buffer,
  contentType: string,
  signal: AbortSignal,
): AsyncGenerator<Words, void> {
  let hasBegun = false;
  try {
    const response = await endpoint.client
      .post('/audio/transcriptions', { body, headers: { 'content-type': contentType }, signal })
      .asResponse();
    const isDocument = response.headers.get('content-type')?.includes('application/json') ?? false;
    const events = createResponseEvents(byteStreamOf(response), isDocument, clock);
    let hasWords = false;
    try {
      for (let batch = await events.read(); batch; batch = await events.read()) {
        for (const data of batch) {
          const words = wordsOf(data, endpoint, !hasBegun);
          hasBegun = true;
          hasWords ||= words !== undefined;
          if (words) yield words;
        }
      }
      if (!hasWords) throw malformed('sent something that is no transcription', true);
    } finally {
      events.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, endpoint, !hasBegun);
  }
}

function malformed(what: string, beforeFirstToken: boolean): ModelError {
  return new ModelError('model_malformed', `The model's endpoint ${what}`, { beforeFirstToken });
}

function wordsOf(data: string, endpoint: OpenAiEndpoint, beforeFirstToken: boolean): Words | undefined {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    throw malformed('sent something that is not JSON as a transcription', beforeFirstToken);
  }
  if (!isRecord(event)) return undefined;
  if (event.error) throw streamedError(event.error, endpoint, beforeFirstToken);
  if (event.type === 'transcript.text.delta') return { text: textOf(event.delta), isWhole: false };
  return typeof event.text === 'string' ? { text: event.text, isWhole: true } : undefined;
}

function formOf(
  model: string,
  { sampleRateHz, language, expectedAnswers }: RecognitionOptions,
  heard: readonly Int16Array[],
) {
  const lengthBytes = heard.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const wav = new Uint8Array(WAV_HEADER_BYTES + lengthBytes);
  wav.set(wavHeader({ sampleRateHz, channels: 1 }, lengthBytes));
  let at = WAV_HEADER_BYTES;
  for (const { buffer, byteOffset, byteLength } of heard) {
    wav.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  const hint = expectedAnswers?.length ? `Possible answers: ${expectedAnswers.join('; ')}` : '';
  // Of a tag such as zh-TW the endpoint takes the language alone.
  const [code] = language?.toLowerCase().split('-') ?? [];
  return multipartBody(
    {
      model,
      response_format: 'json',
      stream: 'true',
      ...(code?.length === 2 ? { language: code } : {}),
      ...(hint === '' ? {} : { prompt: hint.slice(0, LONGEST_HINT_CHARACTERS) }),
    },
    { name: 'file', fileName: 'speech.wav', contentType: 'audio/wav', bytes: wav },
  );
}
