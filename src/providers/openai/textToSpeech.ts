import { ModelError } from '../ports/modelError.ts';
import type { SynthesisRequest, TextToSpeech } from '../ports/textToSpeech.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { toModelError } from './errors.ts';
import { type PatienceDeps, patiently } from './patience.ts';

/** Of the format `pcm`: 16 bits, little-endian, mono. */
const OPENAI_SPEECH_RATE_HZ = 24_000;
/** Nobody takes longer to say a text, not even one of numbers: what goes on after it is no speech. */
const LONGEST_PAUSES_SECONDS = 5;
const LONGEST_CHARACTER_SECONDS = 0.5;
/** How files of sound, and pages, begin. Played as samples they would be noise in somebody's ear. */
const BEGINNINGS_OF_FILES = ['RIFF', 'ID3', 'OggS', 'fLaC', '<!DOCTYPE', '<html', '{"'];

export interface OpenAiSpeechDeps extends PatienceDeps {
  readonly endpoint: OpenAiEndpoint;
  /** Such as `gpt-4o-mini-tts`. */
  readonly model: string;
  readonly voice: string;
}

/**
 * Speech from an OpenAI-compatible endpoint, as it is made.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createSpeech
 */
export function createOpenAiTextToSpeech(deps: OpenAiSpeechDeps): TextToSpeech {
  return {
    name: 'openai',
    sampleRateHz: OPENAI_SPEECH_RATE_HZ,
    isCacheable: true,
    synthesize: (request, signal) =>
      patiently((attemptSignal) => send(deps, request, attemptSignal), signal, deps),
    close: async () => undefined,
  };
}

async function* send(
  { endpoint, model, voice }: OpenAiSpeechDeps,
  request: SynthesisRequest,
  signal: AbortSignal,
): AsyncGenerator<Int16Array, void> {
  let hasBegun = false;
  try {
    const response = await endpoint.client.audio.speech
      .create(
        { model, voice: request.voice ?? voice, input: request.text, response_format: 'pcm' },
        { signal },
      )
      .asResponse();
    if (/^text\/|json/.test(response.headers.get('content-type') ?? '')) throw notAudio();
    let leftSamples = longestSpeechSamples(request.text);
    let rest: Uint8Array = new Uint8Array(0);
    for await (const bytes of response.body ?? []) {
      const joined: Uint8Array = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const evenLength = joined.length - (joined.length % Int16Array.BYTES_PER_ELEMENT);
      rest = joined.slice(evenLength);
      if (evenLength === 0) continue;
      if (!hasBegun && isFile(joined)) throw notAudio();
      hasBegun = true;
      const samples = samplesOf(joined, evenLength);
      leftSamples -= samples.length;
      if (leftSamples < 0) throw endless();
      yield samples;
    }
    if (!hasBegun) throw notAudio();
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, endpoint, !hasBegun);
  }
}

/** A copy, since what the network brings lies at any address. */
function samplesOf(bytes: Uint8Array, lengthBytes: number): Int16Array {
  const samples = new Uint8Array(lengthBytes);
  samples.set(bytes.subarray(0, lengthBytes));
  return new Int16Array(samples.buffer);
}

function longestSpeechSamples(text: string): number {
  return OPENAI_SPEECH_RATE_HZ * (LONGEST_PAUSES_SECONDS + LONGEST_CHARACTER_SECONDS * text.length);
}

function isFile(bytes: Uint8Array): boolean {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', 0, 9);
  return BEGINNINGS_OF_FILES.some((file) => beginning.startsWith(file));
}

function endless(): ModelError {
  const message = "The model's endpoint does not stop speaking";
  return new ModelError('model_malformed', message, { beforeFirstToken: false });
}

function notAudio(): ModelError {
  const message = "The model's endpoint answered with something that is no speech";
  return new ModelError('model_malformed', message, { beforeFirstToken: true });
}
