import { languageName } from '../../base/values/languageCode.ts';
import { toRate } from '../../media/resample/wholeSignal.ts';
import { parseWav, pickChannel } from '../../media/wav.ts';
import {
  type StreamDeps,
  type StreamedResponse,
  streamWithRetry,
} from '../../models/failover/streamWithRetry.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { SynthesisRequest, TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { toModelError } from './errors.ts';
import { OPENAI_SPEECH_OPTIONS } from './vendor.ts';

/** The rate of the format `pcm`: 16 bits, little-endian, mono. */
const SAMPLE_RATE_HZ = 24_000;
const SIGNATURE_BYTES = 9;
/** Speech of a text never lasts longer, not even of numbers: what follows is not speech. */
const MAX_PAUSES_SECONDS = 5;
const MAX_CHARACTER_SECONDS = 0.5;
/** Magic bytes of audio files and documents, which would be noise when played as samples. */
const FILE_SIGNATURES = ['ID3', 'OggS', 'fLaC', '<!DOCTYPE', '<html', '{"'];

export interface OpenAiTextToSpeechDeps extends StreamDeps {
  readonly endpoint: OpenAiEndpoint;
  /** The model for texts that name none. */
  readonly model: string;
  readonly voice: string;
  /** The vendor's own options. */
  readonly options?: unknown;
}

/**
 * Streaming speech synthesis by an OpenAI-compatible endpoint.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://platform.openai.com/docs/api-reference/audio/createSpeech
 */
export function createOpenAiTextToSpeech(deps: OpenAiTextToSpeechDeps): TextToSpeech {
  const { instructions } = OPENAI_SPEECH_OPTIONS.parse(deps.options ?? {});
  return {
    name: 'openai',
    sampleRateHz: SAMPLE_RATE_HZ,
    isCacheable: true,
    synthesize: (request, signal) =>
      streamWithRetry(
        {
          open: (attemptSignal) => open(deps, request, instructions, attemptSignal),
          toModelError: (error, beforeFirstToken) => toModelError(error, deps.endpoint, beforeFirstToken),
        },
        deps,
        signal,
      ),
    close: () => deps.endpoint.close(),
  };
}

async function open(
  { endpoint, ...deps }: OpenAiTextToSpeechDeps,
  request: SynthesisRequest,
  instructions: string | undefined,
  signal: AbortSignal,
): Promise<PcmDecoder> {
  const { text, language, speed } = request;
  const model = request.model ?? deps.model;
  const voice = request.voice ?? deps.voice;
  const response = await endpoint.client.audio.speech
    .create(
      {
        model,
        voice,
        input: text,
        response_format: 'pcm',
        speed,
        ...instructionsFor(model, language, instructions),
      },
      { signal },
    )
    .asResponse();
  const maxSeconds = (MAX_PAUSES_SECONDS + MAX_CHARACTER_SECONDS * text.length) / Math.min(1, speed ?? 1);
  return new PcmDecoder(response, SAMPLE_RATE_HZ * maxSeconds);
}

/**
 * The API has no field for the language; models of the `gpt` family take instructions, all others refuse or ignore
 * them.
 */
function instructionsFor(
  model: string,
  language: string | undefined,
  own: string | undefined,
): { instructions?: string } {
  if (!model.startsWith('gpt')) return {};
  const spoken = language === undefined ? [] : [`Speak ${languageName(language) ?? language}.`];
  const instructions = [...(own === undefined ? [] : [own]), ...spoken].join(' ');
  return instructions === '' ? {} : { instructions };
}

/**
 * Decodes a body of 16 bit samples, whose chunks may split a sample. A WAV file, which some servers always send, is
 * decoded whole.
 */
class PcmDecoder implements StreamedResponse<Int16Array> {
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly isComplete = false;
  readonly #isDocument: boolean;
  #samplesLeft: number;
  #rest = new Uint8Array(0);
  #hasStarted = false;
  #wav: Uint8Array[] | undefined;

  constructor({ headers, body }: Response, maxSamples: number) {
    this.chunks = body ?? [];
    this.#isDocument = /^text\/|json/.test(headers.get('content-type') ?? '');
    this.#samplesLeft = maxSamples;
  }

  decode(chunk: Uint8Array): Int16Array[] {
    if (this.#wav) return this.#keep(chunk);
    const bytes = Buffer.concat([this.#rest, chunk]);
    if (!this.#hasStarted && bytes.length < SIGNATURE_BYTES) {
      this.#rest = Uint8Array.from(bytes);
      return [];
    }
    if (!this.#hasStarted && bytes.toString('latin1', 0, 4) === 'RIFF') {
      this.#wav = [];
      return this.#keep(bytes);
    }
    return this.#samplesOf(bytes);
  }

  finish(): Int16Array[] {
    if (this.#wav) return [fromWav(Buffer.concat(this.#wav))];
    const samples = this.#hasStarted ? [] : this.#samplesOf(Buffer.from(this.#rest));
    if (!this.#hasStarted) throw notAudio();
    return samples;
  }

  /** Keeps a part of a WAV file. The file has at most two channels at twice the rate. */
  #keep(chunk: Uint8Array): Int16Array[] {
    this.#wav?.push(Uint8Array.from(chunk));
    this.#limit(chunk.length / (4 * Int16Array.BYTES_PER_ELEMENT));
    return [];
  }

  #limit(samples: number): void {
    this.#samplesLeft -= samples;
    if (this.#samplesLeft < 0) throw new ModelError('model_malformed', "The endpoint's speech does not end");
  }

  #samplesOf(bytes: Buffer): Int16Array[] {
    const evenBytes = bytes.length - (bytes.length % Int16Array.BYTES_PER_ELEMENT);
    this.#rest = Uint8Array.from(bytes.subarray(evenBytes));
    if (evenBytes === 0) return [];
    if (!this.#hasStarted && (this.#isDocument || isFile(bytes))) throw notAudio();
    this.#hasStarted = true;
    // The network's bytes may have an odd address.
    const samples = new Int16Array(Uint8Array.from(bytes.subarray(0, evenBytes)).buffer);
    this.#limit(samples.length);
    return [samples];
  }
}

/** @throws {ModelError} When the file is not 16-bit PCM. */
function fromWav(bytes: Uint8Array): Int16Array {
  try {
    const file = parseWav(bytes);
    return toRate(pickChannel(file, 0), file.sampleRateHz, SAMPLE_RATE_HZ);
  } catch (cause) {
    throw new ModelError('model_malformed', "The model's endpoint sent a WAV file that cannot be read", {
      cause,
    });
  }
}

function isFile(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, SIGNATURE_BYTES);
  return FILE_SIGNATURES.some((signature) => start.startsWith(signature));
}

function notAudio(): ModelError {
  return new ModelError('model_malformed', "The model's endpoint answered with something other than speech");
}
