import type { Clock } from '../../../base/values/clock.ts';
import { languageCode } from '../../../base/values/languageCode.ts';
import { readPcm16 } from '../../../media/pcm16.ts';
import type { ModelError } from '../../../models/ports/modelError.ts';
import {
  NO_RESULT,
  type SpeechToSpeech,
  type SpeechToSpeechConnection,
  type SpeechToSpeechEvent,
  type SpeechToSpeechOptions,
  type SpeechToSpeechRequest,
} from '../../../models/ports/speechToSpeech.ts';
import { encodeL16, reportedError } from '../../../models/recognition/protocol.ts';
import { AudioChunks } from '../../../models/sockets/audioChunks.ts';
import type { Dial } from '../../../models/sockets/dial.ts';
import { bearer, webSocketUrl } from '../../../models/sockets/target.ts';
import { VendorSocket } from '../../../models/sockets/vendorSocket.ts';
import {
  type ClientEvent,
  functionOutput,
  functionTools,
  messageItems,
  sessionFormats,
} from './clientEvents.ts';
import { Responses } from './responses.ts';
import {
  type OutputItem,
  type ReportedError,
  readServerEvent,
  type ServerEvent,
  type ServerResponse,
  usageOf,
} from './serverEvents.ts';
import { Transcripts } from './transcripts.ts';

/** The only rate that is taken and given. */
const SAMPLE_RATE_HZ = 24_000;
const CHUNK_MS = 40;
/** The least audio that can be committed. */
const MIN_COMMIT_MS = 100;
const NOTHING_TO_COMMIT = 'input_audio_buffer_commit_empty';
const ANSWERS_ALREADY = 'conversation_already_has_active_response';
/**
 * Matches the errors that end a conversation. After other errors, such as a truncation that comes too late, an answer
 * may still come.
 */
const FATAL = /api_key|auth|permission|quota|billing|expired|not_found|rate_limit|server_error/;
const MAY_PASS = /rate_limit|server_error|overloaded|timeout/;

export interface RealtimeSpeechDeps {
  /** The engine's name in the settings of agents. */
  readonly name: string;
  /** `https:` or `http:`, with the path before `/realtime`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** The model that transcribes the caller's speech. */
  readonly transcriptionModel: string;
  readonly voice: string | undefined;
  readonly dial: Dial;
  readonly clock: Clock;
}

/**
 * A speech-to-speech model by the Realtime API.
 *
 * @see https://platform.openai.com/docs/guides/realtime-websocket
 */
export function createRealtimeSpeech(deps: RealtimeSpeechDeps): SpeechToSpeech {
  const connections = new Set<RealtimeSpeechConnection>();
  return {
    name: deps.name,
    model: deps.model,
    sampleRateHz: SAMPLE_RATE_HZ,
    connect(options, onEvent) {
      const connection = new RealtimeSpeechConnection(deps, options, onEvent, () =>
        connections.delete(connection),
      );
      connections.add(connection);
      return connection;
    },
    async close() {
      for (const connection of connections) connection.close();
    },
  };
}

class RealtimeSpeechConnection implements SpeechToSpeechConnection {
  readonly #deps: RealtimeSpeechDeps;
  readonly #options: SpeechToSpeechOptions;
  readonly #onClosed: () => void;
  readonly #socket: VendorSocket;
  readonly #chunks: AudioChunks;
  readonly #responses: Responses;
  readonly #transcripts: Transcripts;
  /** The instructions and tools that were last sent to the server. */
  #step = '';
  /** True once the server has the audio formats. */
  #isConfigured = false;
  /** The number of samples pushed since the last commit. */
  #pushedSamples = 0;
  /** Tool calls of the model, and whether they have an output. */
  readonly #calls = new Map<string, boolean>();
  /** Speech whose words came in pieces. */
  readonly #spelled = new Set<string>();

  constructor(
    deps: RealtimeSpeechDeps,
    options: SpeechToSpeechOptions,
    onEvent: (event: SpeechToSpeechEvent) => void,
    onClosed: () => void,
  ) {
    this.#deps = deps;
    this.#options = options;
    this.#onClosed = onClosed;
    this.#chunks = new AudioChunks(options.sampleRateHz, SAMPLE_RATE_HZ, { chunkMs: CHUNK_MS });
    this.#responses = new Responses(onEvent);
    this.#transcripts = new Transcripts(onEvent);
    const { name, dial, clock, baseUrl, model, apiKey } = deps;
    this.#socket = new VendorSocket({
      name,
      secret: apiKey,
      target: { url: webSocketUrl(`${baseUrl}/`, 'realtime', { model }).href, ...bearer(apiKey) },
      dial,
      clock,
      onOpen: () => onEvent({ type: 'connected' }),
      onMessage: (text) => this.#onMessage(readServerEvent(text)),
      onFailed: (error) => {
        onClosed();
        onEvent({ type: 'failed', error });
      },
    });
  }

  push(samples: Int16Array): void {
    this.#configure();
    this.#pushedSamples += samples.length;
    for (const chunk of this.#chunks.push(samples)) this.#append(chunk);
  }

  commit(): number {
    const rest = this.#chunks.flush();
    if (rest) this.#append(rest);
    const isEnough = (this.#pushedSamples * 1000) / this.#options.sampleRateHz >= MIN_COMMIT_MS;
    this.#pushedSamples = 0;
    if (isEnough) this.#send({ type: 'input_audio_buffer.commit' });
    return this.#transcripts.commit(isEnough);
  }

  discard(): void {
    this.#chunks.flush();
    if (this.#pushedSamples > 0) this.#send({ type: 'input_audio_buffer.clear' });
    this.#pushedSamples = 0;
  }

  answer({ instructions, tools, withheldTools, news }: SpeechToSpeechRequest): void {
    const step = JSON.stringify({ instructions, tools: functionTools(tools) });
    if (step !== this.#step) this.#configure(instructions, functionTools(tools));
    this.#step = step;
    for (const message of news) {
      if (message.role === 'tool') this.#calls.set(message.toolCallId, true);
      for (const item of messageItems(message, (id) => this.#calls.has(id))) this.#send(item);
    }
    // A move has no result, and neither has a call whose answer was not wanted any more.
    for (const [id, hasOutput] of this.#calls) {
      if (!hasOutput) this.#send(functionOutput(id, NO_RESULT));
      this.#calls.set(id, true);
    }
    if (!this.#responses.ask()) return;
    const offered = tools.filter(({ name }) => !withheldTools.includes(name));
    const isWithheld = offered.length < tools.length;
    this.#send({
      type: 'response.create',
      response: isWithheld ? { tools: functionTools(offered) } : undefined,
    });
  }

  cancel(): void {
    if (this.#responses.cancel()) this.#send({ type: 'response.cancel' });
  }

  truncate(speechId: string, heardMs: number): void {
    if (heardMs <= 0) this.#send({ type: 'conversation.item.delete', item_id: speechId });
    else
      this.#send({
        type: 'conversation.item.truncate',
        item_id: speechId,
        content_index: 0,
        audio_end_ms: Math.floor(heardMs),
      });
  }

  close(): void {
    this.#socket.close();
    this.#onClosed();
  }

  /** Sends the configuration. The formats are sent once, before the first audio or answer. */
  #configure(instructions?: string, tools?: ReturnType<typeof functionTools>): void {
    if (this.#isConfigured && instructions === undefined) return;
    const language = languageCode(this.#options.language);
    const formats = sessionFormats({ ...this.#deps, language, sampleRateHz: SAMPLE_RATE_HZ });
    const session = { type: 'realtime', instructions, tools, ...(this.#isConfigured ? {} : formats) };
    this.#isConfigured = true;
    this.#send({ type: 'session.update', session });
  }

  #append(chunk: Int16Array): void {
    const audio = Buffer.from(encodeL16(chunk)).toString('base64');
    this.#socket.send(`{"type":"input_audio_buffer.append","audio":"${audio}"}`);
  }

  #send(event: ClientEvent): void {
    this.#socket.send(JSON.stringify(event));
  }

  #onMessage(event: ServerEvent | undefined): void {
    switch (event?.type) {
      case 'input_audio_buffer.committed':
        this.#responses.forgetWaiting();
        this.#transcripts.onCommitted(event.item_id);
        return;
      case 'conversation.item.input_audio_transcription.delta':
        this.#transcripts.onWords(event.item_id, event.delta);
        return;
      case 'conversation.item.input_audio_transcription.completed':
        this.#transcripts.onComplete(event.item_id, event.transcript);
        return;
      case 'conversation.item.input_audio_transcription.failed':
        this.#transcripts.onLost(event.item_id);
        return;
      case 'error':
        this.#onError(event.error);
        return;
      default:
        if (event) this.#onAnswer(event);
    }
  }

  #onAnswer(event: Extract<ServerEvent, { type: `response.${string}` }>): void {
    switch (event.type) {
      case 'response.created':
        this.#responses.onCreated(event.response.id);
        return;
      case 'response.output_audio.delta': {
        const samples = readPcm16(Buffer.from(event.delta, 'base64'));
        const speechId = event.item_id;
        if (samples.length > 0)
          this.#responses.emit(event.response_id, { type: 'speech', speechId, samples });
        return;
      }
      case 'response.output_audio_transcript.delta':
        this.#spelled.add(event.item_id);
        this.#emitText(event.response_id, event.delta, event.item_id);
        return;
      case 'response.output_audio_transcript.done':
        if (!this.#spelled.delete(event.item_id))
          this.#emitText(event.response_id, event.transcript, event.item_id);
        return;
      case 'response.output_text.delta':
        this.#emitText(event.response_id, event.delta);
        return;
      case 'response.function_call_arguments.delta':
        this.#responses.emit(event.response_id, { type: 'calling' });
        return;
      case 'response.output_item.done':
        this.#onItem(event.response_id, event.item);
        return;
      case 'response.done':
        this.#onDone(event.response);
    }
  }

  #emitText(responseId: string | undefined, text: string, speechId?: string): void {
    if (text === '') return;
    this.#responses.emit(responseId, { type: 'text', text, speechId });
  }

  /** Reads a tool call. A server may send it with its item, with the whole response, or with both. */
  #onItem(responseId: string | undefined, item: OutputItem): void {
    if (!('call_id' in item) || this.#calls.has(item.call_id)) return;
    const { call_id: id, name, arguments: given } = item;
    this.#calls.set(id, false);
    this.#responses.emit(responseId, { type: 'tool_call', call: { id, name, arguments: given } });
  }

  #onDone({ id, status, status_details: details, usage, output }: ServerResponse): void {
    for (const item of output ?? []) this.#onItem(id, item);
    if (status !== 'failed') {
      this.#responses.emit(id, { type: 'done', usage: usage ? usageOf(usage) : undefined });
      return;
    }
    this.#socket.fail(this.#reported({ ...details?.error }));
  }

  #onError(error: ReportedError): void {
    const code = error.code ?? '';
    if (code === NOTHING_TO_COMMIT) this.#transcripts.onRefused();
    else if (code === ANSWERS_ALREADY) this.#responses.onRefused();
    else if (FATAL.test(`${error.type ?? ''} ${code}`)) this.#socket.fail(this.#reported(error));
  }

  #reported({ message = 'the answer failed', type, code }: Partial<ReportedError>): ModelError {
    const mayPass = MAY_PASS.test(`${type ?? ''} ${code ?? ''}`);
    return reportedError(this.#deps.name, code ?? type ?? undefined, message, mayPass);
  }
}
