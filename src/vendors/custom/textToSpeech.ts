import { z } from 'zod';
import { ModelError } from '../../models/ports/modelError.ts';
import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { TextToSpeechOptions } from '../../models/providerOptions.ts';
import { createDial } from '../../models/sockets/dial.ts';
import { bearer, webSocketUrl } from '../../models/sockets/target.ts';
import {
  type IdentifiedEvent,
  L16Decoder,
  type SynthesisProtocol,
  type SynthesisProtocolConnection,
} from '../../models/synthesis/protocol.ts';
import { createSocketSynthesizer } from '../../models/synthesis/socketSynthesizer.ts';
import type { SynthesisLineDeps } from '../../models/synthesis/synthesisLine.ts';

const SUBPROTOCOL = 'tts.callway.v1';
const SAMPLE_RATE_HZ = 24_000;

const word = z.object({ word: z.string(), startMs: z.number(), endMs: z.number() });
const head = z.looseObject({ type: z.string() });
const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('words'), id: z.string(), words: z.array(word) }),
  z.object({ type: z.literal('done'), id: z.string() }),
  z.object({
    type: z.literal('error'),
    id: z.string().optional(),
    message: z.string(),
    retryable: z.boolean().default(false),
  }),
]);

/** The kinds of messages that are read; others are ignored. */
const KNOWN: ReadonlySet<string> = new Set(['words', 'done', 'error']);

export interface CustomTextToSpeechDeps extends SynthesisLineDeps {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  readonly voice?: string | undefined;
  /** The server's own options. */
  readonly options?: unknown;
}

/** Synthesis by a server of the user's own that speaks `tts.callway.v1`. @see docs/guides/speech.md */
export function createCustomTextToSpeech(deps: CustomTextToSpeechDeps): StreamingTextToSpeech {
  return createSocketSynthesizer(customProtocol(deps), deps);
}

export function createTextToSpeech({
  credentials,
  model,
  voice,
  options,
  clock,
  guard,
}: TextToSpeechOptions): StreamingTextToSpeech {
  const { baseUrl, apiKey } = credentials;
  if (baseUrl === undefined) throw new Error('a synthesizer of your own needs CUSTOM_TTS_BASE_URL');
  return createCustomTextToSpeech({ baseUrl, apiKey, model, voice, options, dial: createDial(guard), clock });
}

function customProtocol({
  baseUrl,
  apiKey,
  options,
  ...defaults
}: CustomTextToSpeechDeps): SynthesisProtocol {
  return {
    name: 'custom',
    sampleRateHz: SAMPLE_RATE_HZ,
    // Audio is that of the oldest text.
    maxTexts: Number.POSITIVE_INFINITY,
    namesAudio: false,
    target: () => ({
      url: webSocketUrl(baseUrl, '/').href,
      subprotocol: SUBPROTOCOL,
      ...bearer(apiKey),
    }),
    open: () => customConnection(defaults, options),
  };
}

function customConnection(
  defaults: Pick<CustomTextToSpeechDeps, 'model' | 'voice'>,
  options: unknown,
): SynthesisProtocolConnection {
  const decoder = new L16Decoder(SAMPLE_RATE_HZ);
  return {
    begin(id, { language, model = defaults.model, voice = defaults.voice, speed }) {
      const start = {
        type: 'start',
        id,
        sampleRateHz: SAMPLE_RATE_HZ,
        encoding: 'l16',
        model,
        voice,
        language,
        speed,
        options,
      };
      return [JSON.stringify(start)];
    },
    write: (id, text) => [JSON.stringify({ type: 'text', id, text })],
    end: (id) => [JSON.stringify({ type: 'flush', id })],
    cancel: (id) => [JSON.stringify({ type: 'cancel', id })],
    decode(data, isBinary) {
      if (isBinary) return [{ type: 'samples', samples: decoder.decode(data) }];
      const read = head.parse(JSON.parse(String(data)));
      return KNOWN.has(read.type) ? [toEvent(message.parse(read))] : [];
    },
  };
}

function toEvent(read: z.infer<typeof message>): IdentifiedEvent {
  if (read.type !== 'error') return read;
  const { id, message: text, retryable } = read;
  const error = new ModelError(
    retryable ? 'model_unavailable' : 'model_rejected',
    `The synthesizer ${retryable ? 'reports an error' : 'refuses the text'}: ${text.slice(0, 200)}`,
    { retryable },
  );
  return { type: 'failed', id, error };
}
