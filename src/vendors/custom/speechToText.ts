import { z } from 'zod';
import { ModelError } from '../../models/ports/modelError.ts';
import type { RecognitionEvent, StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../../models/providerOptions.ts';
import {
  encodeL16,
  type ProtocolConnection,
  type RecognitionProtocol,
} from '../../models/recognition/protocol.ts';
import {
  createSocketRecognizer,
  type SocketRecognizerDeps,
} from '../../models/recognition/socketRecognizer.ts';
import { createDial } from '../../models/sockets/dial.ts';
import { bearer, webSocketUrl } from '../../models/sockets/target.ts';

const SUBPROTOCOL = 'stt.callway.v1';
const SAMPLE_RATE_HZ = 16_000;
const CHUNK_MS = 20;

const word = z.object({ word: z.string(), startMs: z.number(), endMs: z.number() });
const transcript = z.object({
  text: z.string(),
  words: z.array(word).optional(),
  confidence: z.number().optional(),
  language: z.string().optional(),
});
const head = z.looseObject({ type: z.string() });
const message = z.discriminatedUnion('type', [
  transcript.extend({ type: z.literal('partial') }),
  transcript.extend({ type: z.literal('final') }),
  z.object({ type: z.literal('end_of_turn'), eager: z.boolean().default(false) }),
  z.object({ type: z.literal('turn_resumed') }),
  z.object({ type: z.literal('error'), message: z.string(), retryable: z.boolean().default(false) }),
]);

/** The kinds of messages that are read; others are ignored. */
const KNOWN: ReadonlySet<string> = new Set(['partial', 'final', 'end_of_turn', 'turn_resumed', 'error']);

export interface CustomSpeechToTextDeps extends SocketRecognizerDeps {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  /** The server's own options. */
  readonly options?: unknown;
}

/** Recognition by a server of the user's own that speaks `stt.callway.v1`. @see docs/guides/speech.md */
export function createCustomSpeechToText(deps: CustomSpeechToTextDeps): StreamingSpeechToText {
  return createSocketRecognizer(customProtocol(deps), deps);
}

export function createSpeechToText({
  credentials,
  model,
  options,
  clock,
  guard,
}: SpeechToTextOptions): StreamingSpeechToText {
  const { baseUrl, apiKey } = credentials;
  if (baseUrl === undefined) throw new Error('a recognizer of your own needs CUSTOM_STT_BASE_URL');
  return createCustomSpeechToText({ baseUrl, apiKey, model, options, dial: createDial(guard), clock });
}

function customProtocol({ baseUrl, apiKey, model, options }: CustomSpeechToTextDeps): RecognitionProtocol {
  return {
    name: 'custom',
    secret: apiKey,
    // Some of these servers do, which is learned when they do.
    detectsTurns: false,
    chunkMs: CHUNK_MS,
    sampleRateHz: () => SAMPLE_RATE_HZ,
    open({ sampleRateHz, language, languages, keyterms = [] }): ProtocolConnection {
      return {
        target: {
          url: webSocketUrl(baseUrl, '/').href,
          subprotocol: SUBPROTOCOL,
          ...bearer(apiKey),
        },
        greeting: JSON.stringify({
          type: 'start',
          sampleRateHz,
          encoding: 'l16',
          model,
          language,
          languages,
          keyterms,
          options,
        }),
        goodbye: JSON.stringify({ type: 'stop' }),
        encode: encodeL16,
        finalize: () => undefined,
        decode(text) {
          const read = head.parse(JSON.parse(text));
          return KNOWN.has(read.type) ? toEvents(message.parse(read)) : [];
        },
      };
    },
  };
}

function toEvents(read: z.infer<typeof message>): readonly RecognitionEvent[] {
  switch (read.type) {
    case 'partial':
    case 'final': {
      const { type, text, words, confidence, language } = read;
      const found = { text: text.trim(), words, confidence, language };
      return [{ type: type === 'final' ? 'final' : 'interim', transcript: found }];
    }
    case 'end_of_turn':
      return [{ type: read.eager ? 'eager_end' : 'end_of_turn' }];
    case 'turn_resumed':
      return [{ type: 'turn_resumed' }];
    case 'error':
      throw new ModelError(
        read.retryable ? 'model_unavailable' : 'model_rejected',
        `The recognizer reports: ${read.message.slice(0, 200)}`,
        { retryable: read.retryable },
      );
  }
}
