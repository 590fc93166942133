import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { StreamingTextToSpeech } from '../../../../src/models/ports/streamingTextToSpeech.ts';
import type { VendorSynthesizerDeps } from '../../../../src/models/synthesis/socketSynthesizer.ts';
import { createCartesiaTextToSpeech } from '../../../../src/vendors/cartesia/textToSpeech.ts';
import { createDeepgramTextToSpeech } from '../../../../src/vendors/deepgram/textToSpeech.ts';
import { createElevenLabsTextToSpeech } from '../../../../src/vendors/elevenlabs/textToSpeech.ts';

/** Of each word. */
export const WORD_SAMPLES = 2400;
export const WORD_MS = 100;

/** A vendor's end of one connection, built from its published protocol. */
export interface ScriptedVendor {
  readonly name: string;
  readonly hasWordTimes: boolean;
  create(deps: VendorSynthesizerDeps): StreamingTextToSpeech;
  /** Whether a request carries the key as the vendor wants it. */
  isAuthorized(request: IncomingMessage, key: string): boolean;
  /** Speaks each word for 100 ms, in samples that are the code of its first letter. */
  serve(socket: WebSocket, speech: VendorSpeech): void;
  /** What the vendor reports to a request too many. */
  readonly rateLimit: (socket: WebSocket, id: string) => void;
  readonly garbage: readonly string[];
  /** A message of a kind that did not exist when this was written. */
  readonly unknown: string;
}

/** What the test does with a text. */
export interface VendorSpeech {
  /** Speaks the words, or not. @param id - As the vendor was told it. */
  onWords(id: string, words: readonly string[], say: () => void): void;
  readonly cancelled: string[];
  /** Cancelled texts stay open at a vendor that counts them. */
  readonly isSlowToClose?: boolean | undefined;
  /** The sound of each word, where it is not the code of its first letter. */
  readonly sound?: Int16Array;
}

type Message = Readonly<Record<string, unknown>>;

const onMessage = (socket: WebSocket, listener: (message: Message) => void) =>
  socket.on('message', (data) => listener(JSON.parse(String(data)) as Message));
const tell = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message));
const wordsOf = (text: unknown): string[] => String(text).match(/\S+/g) ?? [];

function audioOf(words: readonly string[], sound?: Int16Array): Buffer {
  if (sound) return Buffer.concat(words.map(() => Buffer.from(sound.buffer)));
  const samples = words.flatMap((word) => new Array<number>(WORD_SAMPLES).fill(word.charCodeAt(0)));
  return Buffer.from(Int16Array.from(samples).buffer);
}

/** The bytes in two pieces that split a sample. */
const split = (bytes: Buffer): Buffer[] => [bytes.subarray(0, 101), bytes.subarray(101)];

export const elevenLabs: ScriptedVendor = {
  name: 'elevenlabs',
  hasWordTimes: true,
  create: createElevenLabsTextToSpeech,
  isAuthorized: ({ headers, url = '' }, key) =>
    headers['xi-api-key'] === key &&
    url.startsWith('/v1/text-to-speech/') &&
    url.includes('/multi-stream-input?') &&
    url.includes('output_format=pcm_24000'),
  serve(socket, { onWords, cancelled, sound, isSlowToClose }) {
    const contexts = new Map<string, 'open' | 'flushed'>();
    onMessage(socket, ({ context_id, text, flush, close_context }) => {
      if (context_id === undefined) return;
      const contextId = String(context_id);
      if (close_context === true) {
        if (contexts.get(contextId) === 'flushed') tell(socket, { contextId, isFinal: true });
        else {
          cancelled.push(contextId);
          // A context that has something to say takes its time to close.
          if (!isSlowToClose) tell(socket, { contextId, isFinal: true });
        }
        if (!isSlowToClose || contexts.get(contextId) === 'flushed') contexts.delete(contextId);
        return;
      }
      if (flush === true && text === '') contexts.set(contextId, 'flushed');
      else contexts.set(contextId, 'open');
      if (contexts.size > 5) {
        tell(socket, { error: 'max_active_conversations', code: 1008, message: 'Too many.' });
        socket.close(1008);
        return;
      }
      const words = wordsOf(text);
      if (words.length === 0) return;
      onWords(contextId, words, () => {
        const chars = [...`${words.join(' ')} `];
        let at = -1;
        const starts = chars.map((char, index) => {
          if (index === 0 || chars[index - 1] === ' ') at += 1;
          return at * WORD_MS + (char === ' ' ? WORD_MS : 0);
        });
        const alignment = {
          chars,
          charStartTimesMs: starts,
          charDurationsMs: chars.map((char) => (char === ' ' ? 0 : WORD_MS)),
        };
        const [first = Buffer.of(), rest = Buffer.of()] = split(audioOf(words, sound));
        tell(socket, { contextId, audio: first.toString('base64'), alignment });
        tell(socket, { contextId, audio: rest.toString('base64'), alignment: null });
      });
    });
  },
  rateLimit: (socket) => {
    tell(socket, { error: 'max_active_conversations', code: 1008, message: 'Too many.' });
    socket.close(1008);
  },
  garbage: ['{"audio":', '{"audio":17}'],
  unknown: '{"usage":{"characters":5}}',
};

export const cartesia: ScriptedVendor = {
  name: 'cartesia',
  hasWordTimes: true,
  create: createCartesiaTextToSpeech,
  isAuthorized: ({ headers, url }, key) =>
    headers['x-api-key'] === key && headers['cartesia-version'] !== undefined && url === '/tts/websocket',
  serve(socket, { onWords, cancelled, sound }) {
    const spoken = new Map<string, number>();
    onMessage(socket, (message) => {
      const id = String(message.context_id);
      if (message.cancel === true) {
        cancelled.push(id);
        return;
      }
      if (message.transcript === '' && !spoken.has(id)) {
        tell(socket, { type: 'error', done: true, title: 'Empty', status_code: 400, context_id: id });
        return;
      }
      if (message.continue === false) {
        tell(socket, { type: 'done', done: true, status_code: 206, context_id: id });
        return;
      }
      const words = wordsOf(message.transcript);
      onWords(id, words, () => {
        const from = spoken.get(id) ?? 0;
        spoken.set(id, from + words.length);
        const start = words.map((_, index) => ((from + index) * WORD_MS) / 1000);
        const end = start.map((seconds) => seconds + WORD_MS / 1000);
        const base = { done: false, status_code: 206, context_id: id };
        tell(socket, { type: 'timestamps', ...base, word_timestamps: { words, start, end } });
        for (const bytes of split(audioOf(words, sound)))
          tell(socket, { type: 'chunk', ...base, data: bytes.toString('base64'), step_time: 10 });
      });
    });
  },
  rateLimit: (socket, context_id) =>
    tell(socket, {
      type: 'error',
      done: true,
      title: 'Too many requests',
      message: 'Concurrency limit for: Hello there.',
      error_code: 'concurrency_limited',
      status_code: 429,
      context_id,
    }),
  garbage: ['{"type":', '{"type":"chunk","context_id":"text-1"}'],
  unknown: '{"type":"usage","context_id":"text-1"}',
};

export const deepgram: ScriptedVendor = {
  name: 'deepgram',
  hasWordTimes: false,
  create: createDeepgramTextToSpeech,
  isAuthorized: ({ headers, url = '' }, key) =>
    headers.authorization === `Token ${key}` &&
    url.startsWith('/v1/speak?') &&
    url.includes('encoding=linear16') &&
    url.includes('sample_rate=24000'),
  serve(socket, { onWords, cancelled, sound }) {
    let sequence = 0;
    tell(socket, { type: 'Metadata', request_id: 'r', model_name: 'm', model_version: '1', model_uuid: 'u' });
    onMessage(socket, ({ type, text }) => {
      if (type === 'Speak') {
        const words = wordsOf(text);
        onWords('text', words, () => {
          for (const bytes of split(audioOf(words, sound))) socket.send(bytes);
        });
      }
      if (type === 'Flush') tell(socket, { type: 'Flushed', sequence_id: sequence++ });
      if (type === 'Clear') {
        cancelled.push('text');
        tell(socket, { type: 'Cleared', sequence_id: sequence++ });
      }
    });
  },
  rateLimit: (socket) => socket.close(1011, 'NET-0002'),
  garbage: ['{"type":', '{"kind":"hello"}'],
  unknown: '{"type":"Usage"}',
};

export const SCRIPTED_VENDORS: readonly ScriptedVendor[] = [elevenLabs, cartesia, deepgram];
