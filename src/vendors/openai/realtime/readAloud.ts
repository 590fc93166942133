import { z } from 'zod';
import { languageName } from '../../../base/values/languageCode.ts';
import type { StreamingTextToSpeech } from '../../../models/ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../../../models/ports/textToSpeech.ts';
import { bearer, webSocketUrl } from '../../../models/sockets/target.ts';
import {
  clampedSpeed,
  endsSentence,
  type IdentifiedEvent,
  L16Decoder,
  reportedError,
  type SynthesisProtocol,
  type SynthesisProtocolConnection,
} from '../../../models/synthesis/protocol.ts';
import {
  createSocketSynthesizer,
  type VendorSynthesizerDeps,
} from '../../../models/synthesis/socketSynthesizer.ts';
import { OPENAI_SPEECH_OPTIONS } from '../vendor.ts';

const SAMPLE_RATE_HZ = 24_000;
/** Responses beside the conversation, which the vendor takes several of. */
const MAX_TEXTS = 4;
/** The vendor's range of speeds. */
const [SLOWEST, FASTEST] = [0.25, 1.5];
const READ_ALOUD = 'Read the text of the user aloud, word for word. Say nothing else, and never answer it.';

const message = z.looseObject({ type: z.string() });
const created = z.object({
  response: z.object({ id: z.string(), metadata: z.object({ reading: z.string() }).nullish() }),
});
const delta = z.object({ response_id: z.string(), delta: z.string() });
const done = z.object({ response: z.object({ id: z.string(), status: z.string().default('completed') }) });
const failure = z.object({
  error: z.object({ code: z.string().nullish(), type: z.string().nullish(), event_id: z.string().nullish() }),
});

export interface ReadAloudDeps extends VendorSynthesizerDeps {
  readonly model: string;
  readonly voice: string;
}

/** Returns true for models that speak by the Realtime API instead of the speech endpoint. */
export function readsAloud(model: string): boolean {
  return model.startsWith('gpt-realtime');
}

/**
 * Streaming synthesis by a speech-to-speech model that reads each sentence aloud, in place of the models of the speech
 * endpoint.
 *
 * @throws {ZodError} When the options are not the vendor's.
 * @see https://platform.openai.com/docs/guides/realtime-conversations#create-responses-outside-the-default-conversation
 */
export function createReadAloud(deps: ReadAloudDeps): StreamingTextToSpeech {
  const { instructions } = OPENAI_SPEECH_OPTIONS.parse(deps.options ?? {});
  const protocol: SynthesisProtocol = {
    name: 'openai',
    sampleRateHz: SAMPLE_RATE_HZ,
    maxTexts: MAX_TEXTS,
    namesAudio: true,
    target: ({ model = deps.model }) => ({
      url: webSocketUrl(`${deps.baseUrl}/`, 'realtime', { model }).href,
      ...bearer(deps.apiKey),
    }),
    open: () => new ReadAloudConnection(deps.voice, instructions),
  };
  return createSocketSynthesizer(protocol, deps);
}

/** A sentence, which has its own response. Its speech waits for that of the sentence before it. */
interface Reading {
  readonly key: string;
  responseId: string | undefined;
  readonly decoder: L16Decoder;
  waiting: Int16Array[];
  isDone: boolean;
}

interface Text {
  readonly id: string;
  readonly voice: SpokenVoice;
  /** The text of the sentence so far. */
  unread: string;
  readonly readings: Reading[];
  isEnded: boolean;
}

class ReadAloudConnection implements SynthesisProtocolConnection {
  readonly #voice: string;
  readonly #instructions: string | undefined;
  readonly #texts = new Map<string, Text>();
  #count = 0;

  constructor(voice: string, instructions: string | undefined) {
    this.#voice = voice;
    this.#instructions = instructions;
  }

  begin(id: string, voice: SpokenVoice): string[] {
    this.#texts.set(id, { id, voice, unread: '', readings: [], isEnded: false });
    const speed = clampedSpeed(voice.speed, SLOWEST, FASTEST);
    const session = { type: 'realtime', audio: { output: { speed } } };
    return speed === undefined ? [] : [JSON.stringify({ type: 'session.update', session })];
  }

  write(id: string, words: string): string[] {
    const text = this.#texts.get(id);
    if (!text) return [];
    text.unread += words;
    return endsSentence(text.unread) ? this.#read(text) : [];
  }

  end(id: string): string[] | undefined {
    const text = this.#texts.get(id);
    if (!text) return [];
    text.isEnded = true;
    const messages = this.#read(text);
    if (text.readings.length > 0) return messages;
    this.#texts.delete(id);
    return undefined;
  }

  cancel(id: string): string[] {
    const { readings = [] } = this.#texts.get(id) ?? {};
    this.#texts.delete(id);
    return readings.flatMap(({ responseId, isDone }) =>
      responseId === undefined || isDone
        ? []
        : [JSON.stringify({ type: 'response.cancel', response_id: responseId })],
    );
  }

  decode(data: Buffer): IdentifiedEvent[] {
    const read = message.parse(JSON.parse(String(data)));
    switch (read.type) {
      case 'response.created': {
        const { id, metadata } = created.parse(read).response;
        // A server that tells no metadata answers in order.
        const found = this.#find(({ key, responseId }) =>
          metadata ? key === metadata.reading : responseId === undefined,
        );
        if (found) found.reading.responseId = id;
        return [];
      }
      case 'response.output_audio.delta': {
        const { response_id, delta: audio } = delta.parse(read);
        const found = this.#find(({ responseId }) => responseId === response_id);
        if (!found) return [];
        found.reading.waiting.push(found.reading.decoder.decode(Buffer.from(audio, 'base64')));
        return this.#speak(found.text);
      }
      case 'response.done': {
        const { id, status } = done.parse(read).response;
        const found = this.#find(({ responseId }) => responseId === id);
        if (!found) return [];
        if (status !== 'completed') return this.#fail(found.text, status);
        found.reading.isDone = true;
        return this.#speak(found.text);
      }
      case 'error':
        return this.#onError(failure.parse(read).error);
      default:
        return [];
    }
  }

  #read(text: Text): string[] {
    const words = text.unread.trim();
    text.unread = '';
    if (words === '') return [];
    this.#count += 1;
    const key = `reading-${this.#count}`;
    text.readings.push({
      key,
      responseId: undefined,
      decoder: new L16Decoder(SAMPLE_RATE_HZ),
      waiting: [],
      isDone: false,
    });
    const { language, voice = this.#voice } = text.voice;
    const spoken = language === undefined ? '' : `Speak ${languageName(language) ?? language}.`;
    const response = {
      conversation: 'none',
      output_modalities: ['audio'],
      instructions: [READ_ALOUD, this.#instructions, spoken].filter((part) => part).join(' '),
      metadata: { reading: key },
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] }],
      audio: { output: { format: { type: 'audio/pcm', rate: SAMPLE_RATE_HZ }, voice } },
    };
    return [JSON.stringify({ type: 'response.create', event_id: key, response })];
  }

  /** Passes on what has its turn. */
  #speak(text: Text): IdentifiedEvent[] {
    const { id, readings } = text;
    const events: IdentifiedEvent[] = [];
    for (let [first] = readings; first; [first] = readings) {
      for (const samples of first.waiting.splice(0)) events.push({ type: 'samples', id, samples });
      if (!first.isDone) return events;
      readings.shift();
    }
    if (!text.isEnded) return events;
    this.#texts.delete(id);
    return [...events, { type: 'done', id }];
  }

  /** An error that names no sentence is one of the connection, unless a response that was cancelled had ended. */
  #onError({ code, type, event_id }: z.infer<typeof failure>['error']): IdentifiedEvent[] {
    if (code === 'response_cancel_not_active') return [];
    const found = this.#find(({ key }) => key === event_id);
    if (found) return this.#fail(found.text, code ?? type ?? undefined);
    const isRefused = /api_key|auth|permission|quota|billing|not_found/.test(`${code} ${type}`);
    throw reportedError('openai', isRefused ? 403 : undefined, code ?? type ?? undefined);
  }

  #fail({ id }: Text, code: string | undefined): IdentifiedEvent[] {
    this.#texts.delete(id);
    return [{ type: 'failed', id, error: reportedError('openai', undefined, code) }];
  }

  #find(is: (reading: Reading) => boolean): { readonly text: Text; readonly reading: Reading } | undefined {
    for (const text of this.#texts.values()) {
      const reading = text.readings.find(is);
      if (reading) return { text, reading };
    }
    return undefined;
  }
}
