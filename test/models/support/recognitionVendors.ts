import type { StreamingSpeechToText } from '../../../src/models/ports/streamingSpeechToText.ts';
import type { SocketRecognizerDeps } from '../../../src/models/recognition/socketRecognizer.ts';
import { createAssemblyAiSpeechToText } from '../../../src/vendors/assemblyai/speechToText.ts';
import { createCustomSpeechToText } from '../../../src/vendors/custom/speechToText.ts';
import { createDeepgramSpeechToText } from '../../../src/vendors/deepgram/speechToText.ts';
import { createOpenAiRealtimeSpeechToText } from '../../../src/vendors/openai/realtimeSpeechToText.ts';
import { createSonioxSpeechToText } from '../../../src/vendors/soniox/speechToText.ts';

interface VendorDeps extends SocketRecognizerDeps {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly options?: unknown;
}

/** A vendor's published protocol, as far as a test of all vendors needs it. */
export interface RecognitionVendor {
  readonly title: string;
  readonly create: (deps: VendorDeps) => StreamingSpeechToText;
  readonly isAudio?: (message: unknown) => boolean;
  /** The start of the request's address. */
  readonly path: string;
  readonly authorization: string;
  /** Parts of the address or of the first message that configure the session. */
  readonly configuration: readonly string[];
  readonly greeting: readonly unknown[];
  /** What the vendor sends while a caller says `hello there`, first heard as `hello their`. */
  readonly turn: readonly unknown[];
  /** The events of that, without `connected`, each with its words. */
  readonly events: readonly string[];
  /** The first words of a turn, with nothing after them. */
  readonly firstWords: unknown;
  /** The message that asks for the final words, and its answers; absent for a protocol without one. */
  readonly finalize?: {
    readonly message: unknown;
    readonly answers: readonly unknown[];
    readonly text: string;
  };
  readonly keepAlive?: unknown;
  /** When the vendor ends a session; absent for never. */
  readonly sessionEndsMs?: number;
  readonly goodbye?: unknown;
  readonly rateLimit: unknown;
  /** The refusal of a key that the vendor repeats. */
  readonly wrongKey: (key: string) => unknown;
  /** A message of a kind that did not exist when this was written. */
  readonly unknown: unknown;
  /** A message that lacks what it must have. */
  readonly malformed: unknown;
}

const dgWords = (...words: string[]) => words.map((word) => ({ word, confidence: 0.9 }));
const turnInfo = (event: string, transcript: string) => ({
  type: 'TurnInfo',
  event,
  turn_index: 0,
  audio_window_start: 0,
  audio_window_end: 0.5,
  transcript,
  words: dgWords(...transcript.split(' ')),
  end_of_turn_confidence: 0.4,
});

const flux: RecognitionVendor = {
  title: 'deepgram flux',
  create: (deps) => createDeepgramSpeechToText(deps),
  path: '/v2/listen',
  authorization: 'Token secret-key',
  configuration: [
    'model=flux-general-en',
    'encoding=linear16',
    'sample_rate=8000',
    'eager_eot_threshold=0.5',
    'keyterm=Callway',
    'keyterm=Ana',
  ],
  greeting: [{ type: 'Connected', request_id: 'r', sequence_id: 0 }],
  turn: [
    turnInfo('StartOfTurn', 'hello'),
    turnInfo('Update', 'hello their'),
    turnInfo('EagerEndOfTurn', 'hello there'),
    turnInfo('TurnResumed', 'hello there'),
    turnInfo('EagerEndOfTurn', 'hello there'),
    turnInfo('EndOfTurn', 'hello there'),
  ],
  events: [
    'interim hello',
    'interim hello their',
    'interim hello there',
    'eager_end',
    'turn_resumed',
    'interim hello there',
    'interim hello there',
    'eager_end',
    'final hello there',
    'end_of_turn',
  ],
  firstWords: turnInfo('StartOfTurn', 'hello'),
  finalize: {
    message: { type: 'ForceEndTurn' },
    answers: [{ ...turnInfo('EndOfTurn', 'hello there'), trigger: 'manual' }],
    text: 'hello there',
  },
  goodbye: { type: 'CloseStream' },
  rateLimit: { type: 'Error', sequence_id: 1, code: 'TOO_MANY_REQUESTS', description: 'slow down' },
  wrongKey: (key) => ({ type: 'Error', sequence_id: 1, code: 'UNAUTHORIZED', description: `no ${key}` }),
  unknown: { type: 'ConfigureSuccess', thresholds: {} },
  malformed: { type: 'TurnInfo', event: 'Update' },
};

const results = (transcript: string, isFinal: boolean, more: object = {}) => ({
  type: 'Results',
  channel_index: [0, 1],
  start: 0,
  duration: 0.5,
  is_final: isFinal,
  speech_final: false,
  channel: {
    alternatives: [
      {
        transcript,
        confidence: 0.9,
        words: transcript
          .split(' ')
          .filter((word) => word !== '')
          .map((word, index) => ({ word, start: index * 0.2, end: index * 0.2 + 0.2, confidence: 0.9 })),
      },
    ],
  },
  ...more,
});

const nova: RecognitionVendor = {
  title: 'deepgram nova',
  create: (deps) => createDeepgramSpeechToText({ ...deps, model: 'nova-3' }),
  path: '/v1/listen',
  authorization: 'Token secret-key',
  configuration: [
    'model=nova-3',
    'encoding=linear16',
    'sample_rate=8000',
    'interim_results=true',
    'endpointing=300',
    'utterance_end_ms=1000',
    'language=en',
    'keyterm=Callway',
    'keyterm=Ana',
  ],
  greeting: [],
  turn: [
    results('hello', false),
    results('hello', true),
    results('their', false),
    results('there', true, { speech_final: true }),
    { type: 'UtteranceEnd', channel: [0, 1], last_word_end: 0.4 },
  ],
  events: ['interim hello', 'interim hello', 'interim hello their', 'final hello there'],
  firstWords: results('hello', false),
  finalize: {
    message: { type: 'Finalize' },
    answers: [results('hello there', true, { from_finalize: true })],
    text: 'hello there',
  },
  keepAlive: { type: 'KeepAlive' },
  goodbye: { type: 'CloseStream' },
  rateLimit: { type: 'Error', variant: 'RATE_LIMIT', description: 'too many', message: 'too many' },
  wrongKey: (key) => ({ type: 'Error', variant: 'INVALID_AUTH', description: `no ${key}` }),
  unknown: { type: 'Metadata', request_id: 'r' },
  malformed: { type: 'Results', channel: {} },
};

const aaiTurn = (transcript: string, open: string[], more: object = {}) => ({
  type: 'Turn',
  turn_order: 0,
  turn_is_formatted: false,
  end_of_turn: false,
  transcript,
  end_of_turn_confidence: 0.1,
  utterance: '',
  words: [...transcript.split(' ').filter((word) => word !== ''), ...open].map((text, index, all) => ({
    text,
    start: index * 200,
    end: index * 200 + 200,
    confidence: 0.9,
    word_is_final: index < all.length - open.length,
  })),
  ...more,
});

const assemblyai: RecognitionVendor = {
  title: 'assemblyai',
  create: (deps) => createAssemblyAiSpeechToText(deps),
  path: '/v3/ws',
  authorization: 'secret-key',
  configuration: [
    'speech_model=universal-streaming-english',
    'sample_rate=8000',
    'encoding=pcm_s16le',
    'keyterms_prompt=["Callway","Ana"]',
  ],
  greeting: [{ type: 'Begin', id: 's', expires_at: 1_900_000_000 }],
  turn: [
    aaiTurn('', ['hello']),
    aaiTurn('hello', ['their']),
    aaiTurn('hello there', [], { utterance: 'hello there' }),
    aaiTurn('hello there', [], { end_of_turn: true }),
    aaiTurn('Hello there.', [], { end_of_turn: true, turn_is_formatted: true }),
  ],
  events: [
    'interim hello',
    'interim hello their',
    'interim hello there',
    'eager_end',
    'final hello there',
    'end_of_turn',
  ],
  firstWords: aaiTurn('', ['hello']),
  finalize: {
    message: { type: 'ForceEndpoint' },
    answers: [aaiTurn('hello there', [], { end_of_turn: true })],
    text: 'hello there',
  },
  goodbye: { type: 'Terminate' },
  sessionEndsMs: 3 * 3_600_000,
  rateLimit: { type: 'Error', error_code: 3009, error: 'Too many concurrent sessions' },
  wrongKey: (key) => ({ type: 'Error', error_code: 4001, error: `Not authorized: ${key}` }),
  unknown: { type: 'Heartbeat', realtime_factor: 1 },
  malformed: { type: 'Turn', transcript: 'hello' },
};

const token = (text: string, isFinal: boolean, startMs: number) => ({
  text,
  is_final: isFinal,
  start_ms: startMs,
  end_ms: startMs + 100,
  confidence: 0.9,
  language: 'en',
});
const told = (...tokens: object[]) => ({ tokens, final_audio_proc_ms: 0, total_audio_proc_ms: 500 });

const soniox: RecognitionVendor = {
  title: 'soniox',
  create: (deps) => createSonioxSpeechToText(deps),
  path: '/transcribe-websocket',
  authorization: 'Bearer secret-key',
  configuration: [
    '"model":"stt-rt-v5"',
    '"audio_format":"pcm_s16le"',
    '"sample_rate":8000',
    '"enable_endpoint_detection":true',
    '"language_hints":["en"]',
    '"context":{"terms":["Callway","Ana"]}',
  ],
  greeting: [],
  turn: [
    told(token('hel', false, 0), token('lo', false, 100)),
    told(token('hel', true, 0), token('lo', true, 100), token(' their', false, 200)),
    told(token(' there', true, 200), token('<end>', true, 300)),
  ],
  events: ['interim hello', 'interim hello their', 'final hello there', 'end_of_turn'],
  firstWords: told(token('hel', false, 0), token('lo', false, 100)),
  finalize: {
    message: { type: 'finalize' },
    answers: [told(token('hello', true, 0), token(' there', true, 200), token('<fin>', true, 300))],
    text: 'hello there',
  },
  keepAlive: { type: 'keepalive' },
  sessionEndsMs: 5 * 3_600_000,
  // Not JSON: an empty message.
  goodbye: null,
  rateLimit: { error_code: 429, error_message: 'Too many requests' },
  wrongKey: (key) => ({ error_code: 401, error_message: `Incorrect key ${key}` }),
  unknown: { tokens: [], final_audio_proc_ms: 0, total_audio_proc_ms: 40 },
  malformed: { tokens: 'hello' },
};

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const delta = (text: string, id = 'one') => ({ type: `${TRANSCRIPTION}.delta`, item_id: id, delta: text });
const completed = (transcript: string, id = 'one') => ({
  type: `${TRANSCRIPTION}.completed`,
  item_id: id,
  transcript,
});
const isAppended = (message: unknown) =>
  (message as { type?: string } | null)?.type === 'input_audio_buffer.append';

const openai: RecognitionVendor = {
  title: 'openai, words while they are spoken',
  create: ({ baseUrl, ...deps }) => createOpenAiRealtimeSpeechToText({ ...deps, baseUrl: `${baseUrl}/v1` }),
  isAudio: isAppended,
  path: '/v1/realtime?intent=transcription',
  authorization: 'Bearer secret-key',
  configuration: [
    '"type":"session.update"',
    '"session":{"type":"transcription"',
    '"format":{"type":"audio/pcm","rate":24000}',
    '"transcription":{"model":"gpt-realtime-whisper","language":"en"}',
    '"turn_detection":null',
  ],
  greeting: [
    { type: 'session.created', session: {} },
    { type: 'session.updated', session: {} },
  ],
  turn: [
    delta('hello'),
    delta(' their'),
    { type: 'input_audio_buffer.committed', item_id: 'one' },
    completed('hello there'),
  ],
  events: ['interim hello', 'interim hello their', 'final hello there'],
  firstWords: delta('hello'),
  finalize: {
    message: { type: 'input_audio_buffer.commit' },
    answers: [completed('hello there')],
    text: 'hello there',
  },
  sessionEndsMs: 3_600_000,
  rateLimit: {
    type: 'error',
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'slow' },
  },
  wrongKey: (key) => ({
    type: 'error',
    error: { type: 'invalid_request_error', code: 'invalid_api_key', message: `Incorrect key ${key}` },
  }),
  unknown: { type: 'rate_limits.updated', rate_limits: [] },
  malformed: { type: `${TRANSCRIPTION}.completed`, item_id: 'one' },
};

const openaiTurns: RecognitionVendor = {
  ...openai,
  title: 'openai, with turn detection',
  create: ({ baseUrl, ...deps }) =>
    createOpenAiRealtimeSpeechToText({ ...deps, baseUrl, model: 'gpt-4o-transcribe' }),
  configuration: ['"model":"gpt-4o-transcribe"', '"turn_detection":{"type":"semantic_vad"}', 'Callway, Ana'],
  turn: [
    { type: 'input_audio_buffer.speech_started', item_id: 'one', audio_start_ms: 0 },
    { type: 'input_audio_buffer.speech_stopped', item_id: 'one', audio_end_ms: 500 },
    { type: 'input_audio_buffer.committed', item_id: 'one' },
    { type: 'input_audio_buffer.committed', item_id: 'two' },
    delta('there', 'two'),
    delta('hello', 'one'),
    completed('hello', 'one'),
    completed('there', 'two'),
  ],
  events: ['interim hello', 'final hello', 'end_of_turn', 'interim there', 'final there', 'end_of_turn'],
};

const custom: RecognitionVendor = {
  title: 'a server of stt.callway.v1',
  create: (deps) => createCustomSpeechToText(deps),
  path: '/',
  authorization: 'Bearer secret-key',
  configuration: [
    '"type":"start"',
    '"sampleRateHz":16000',
    '"encoding":"l16"',
    '"language":"en"',
    '"keyterms":["Callway","Ana"]',
  ],
  greeting: [],
  turn: [
    { type: 'partial', text: 'hello their' },
    { type: 'end_of_turn', eager: true },
    { type: 'turn_resumed' },
    { type: 'final', text: ' hello there ' },
    { type: 'end_of_turn', eager: false },
  ],
  events: ['interim hello their', 'eager_end', 'turn_resumed', 'final hello there', 'end_of_turn'],
  firstWords: { type: 'partial', text: 'hello' },
  goodbye: { type: 'stop' },
  rateLimit: { type: 'error', message: 'busy', retryable: true },
  wrongKey: (key) => ({ type: 'error', message: `Incorrect key ${key}`, retryable: false }),
  unknown: { type: 'hello' },
  malformed: { kind: 'hello' },
};

export const RECOGNITION_VENDORS: readonly RecognitionVendor[] = [
  flux,
  nova,
  assemblyai,
  soniox,
  openai,
  openaiTurns,
];

/** The vendors, and a server of one's own. */
export const RECOGNITION_PROTOCOLS: readonly RecognitionVendor[] = [...RECOGNITION_VENDORS, custom];
