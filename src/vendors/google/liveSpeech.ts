import type { Clock } from '../../base/values/clock.ts';
import { readPcm16 } from '../../media/pcm16.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { Usage } from '../../models/ports/chatModel.ts';
import {
  NO_RESULT,
  type SpeechToSpeech,
  type SpeechToSpeechConnection,
  type SpeechToSpeechEvent,
  type SpeechToSpeechOptions,
  type SpeechToSpeechRequest,
} from '../../models/ports/speechToSpeech.ts';
import { encodeL16 } from '../../models/recognition/protocol.ts';
import { AudioChunks } from '../../models/sockets/audioChunks.ts';
import type { Dial } from '../../models/sockets/dial.ts';
import { webSocketUrl } from '../../models/sockets/target.ts';
import { VendorSocket } from '../../models/sockets/vendorSocket.ts';
import {
  ACTIVITY_END,
  ACTIVITY_START,
  audioMessage,
  contentMessage,
  HEARD_RATE_HZ,
  readServerMessage,
  type ServerContent,
  type ServerMessage,
  setupMessage,
  toolResponse,
  usageOf,
} from './liveMessages.ts';
import { LiveNews } from './liveNews.ts';
import { LiveTranscripts } from './liveTranscripts.ts';

const NAME = 'gemini-live';
const PATH = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const SPEECH_RATE_HZ = 24_000;
const CHUNK_MS = 40;

export interface LiveSpeechDeps {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  readonly voice: string | undefined;
  readonly clock: Clock;
  readonly dial: Dial;
}

/**
 * A speech-to-speech model by the Live API.
 *
 * @see https://ai.google.dev/api/live
 */
export function createLiveSpeech(deps: LiveSpeechDeps): SpeechToSpeech {
  const connections = new Set<LiveConnection>();
  return {
    name: NAME,
    model: deps.model,
    sampleRateHz: SPEECH_RATE_HZ,
    connect(options, onEvent) {
      const connection = new LiveConnection(deps, options, onEvent, () => connections.delete(connection));
      connections.add(connection);
      return connection;
    },
    async close() {
      for (const connection of connections) connection.close();
    },
  };
}

/**
 * One conversation. The API fixes instructions and tools with the first message of a connection. The next step of a
 * pathway therefore needs another connection, which gets the conversation. The person's words are held back while the
 * model still generates: they would stop the model, which only Callway may do.
 */
class LiveConnection implements SpeechToSpeechConnection {
  readonly #deps: LiveSpeechDeps;
  readonly #onEvent: (event: SpeechToSpeechEvent) => void;
  readonly #onClosed: () => void;
  readonly #chunks: AudioChunks;
  readonly #transcripts: LiveTranscripts;
  #socket: VendorSocket;
  /** The step and the tools that the connection has; empty before the first. */
  #setup = '';
  readonly #news = new LiveNews();
  /** Messages from before the setup was complete. */
  #waiting: string[] | undefined = [];
  #isLeaving = false;
  /** The person's audio since the last answer, and how much of it was sent. */
  #utterance: string[] = [];
  #sent = 0;
  /** The id of the running answer; undefined while there is none. */
  #speechId: string | undefined;
  #answers = 0;
  #hasContent = false;
  /** The server still generates an answer that is not wanted. */
  #isStale = false;
  /** Tool calls that the model waits for. */
  #calls = new Map<string, string>();
  #usage: Usage | undefined;

  constructor(
    deps: LiveSpeechDeps,
    { sampleRateHz }: SpeechToSpeechOptions,
    onEvent: (event: SpeechToSpeechEvent) => void,
    onClosed: () => void,
  ) {
    this.#deps = deps;
    this.#onEvent = onEvent;
    this.#onClosed = onClosed;
    this.#chunks = new AudioChunks(sampleRateHz, HEARD_RATE_HZ, { chunkMs: CHUNK_MS });
    this.#transcripts = new LiveTranscripts(onEvent, deps.clock);
    this.#socket = this.#dial(() => onEvent({ type: 'connected' }));
  }

  push(samples: Int16Array): void {
    for (const chunk of this.#chunks.push(samples)) this.#utterance.push(audioMessage(encodeL16(chunk)));
    if (this.#speechId === undefined) this.#sendUtterance();
  }

  commit(): number {
    const rest = this.#chunks.flush();
    if (rest) this.#utterance.push(audioMessage(encodeL16(rest)));
    if (this.#speechId === undefined) this.#sendUtterance();
    return this.#transcripts.commit();
  }

  /** Discards the utterance. An activity that has begun continues with the person's next words. */
  discard(): void {
    this.#chunks.flush();
    if (this.#sent === 0) this.#utterance = [];
  }

  answer(request: SpeechToSpeechRequest): void {
    const setup = JSON.stringify([request.step, request.tools]);
    const isAnother = setup !== this.#setup || this.#isLeaving;
    if (isAnother) this.#begin(request, setup);
    this.#answers += 1;
    this.#speechId = `speech-${this.#answers}`;
    this.#hasContent = false;
    const hasAudio = this.#utterance.length > 0;
    const results = this.#takeResults(request.news);
    // Anything else would interrupt the model, which waits for the results.
    if (results.length > 0) {
      this.#news.keep(request.news);
      this.#send(toolResponse(results));
    } else {
      const news = isAnother ? this.#news.untilNow(request, hasAudio) : this.#news.take(request);
      if (news.length > 0 || !hasAudio) this.#send(contentMessage(news, !hasAudio));
    }
    if (hasAudio) this.#endUtterance();
  }

  cancel(): void {
    if (this.#speechId === undefined) return;
    this.#isStale = true;
    this.#speechId = undefined;
    // The person's voice stops the server.
    if (this.#utterance.length > 0) this.#sendUtterance();
  }

  truncate(): void {
    this.#news.isCut = true;
  }

  close(): void {
    this.#transcripts.close();
    this.#socket.close();
    this.#onClosed();
  }

  #dial(onOpen: () => void): VendorSocket {
    const { baseUrl, apiKey, dial, clock } = this.#deps;
    return new VendorSocket({
      name: NAME,
      secret: apiKey,
      target: { url: webSocketUrl(baseUrl, PATH, { key: apiKey }).href },
      dial,
      clock,
      onOpen,
      onMessage: (text) => this.#onMessage(readServerMessage(text)),
      onFailed: (error) => {
        // A connection that was about to end is made again for the next answer.
        if (this.#isLeaving && this.#speechId === undefined) return;
        this.close();
        this.#onEvent({ type: 'failed', error });
      },
    });
  }

  #begin(request: SpeechToSpeechRequest, setup: string): void {
    if (this.#setup !== '') {
      this.#socket.close();
      this.#socket = this.#dial(() => undefined);
    }
    this.#setup = setup;
    this.#isLeaving = false;
    this.#isStale = false;
    this.#calls.clear();
    this.#sent = 0;
    this.#waiting = [];
    this.#socket.send(setupMessage(this.#deps, request));
  }

  #takeResults(news: readonly ChatMessage[]) {
    const results = [...this.#calls].map(([id, name]) => {
      const result = news.find((message) => message.role === 'tool' && message.toolCallId === id);
      return { id, name, output: result?.content ?? NO_RESULT };
    });
    this.#calls.clear();
    return results;
  }

  #sendUtterance(): void {
    if (this.#setup === '') return;
    if (this.#sent === 0 && this.#utterance.length > 0) this.#send(ACTIVITY_START);
    for (const message of this.#utterance.slice(this.#sent)) this.#send(message);
    this.#sent = this.#utterance.length;
  }

  #endUtterance(): void {
    this.#sendUtterance();
    this.#send(ACTIVITY_END);
    this.#utterance = [];
    this.#sent = 0;
  }

  #send(message: string): void {
    if (this.#waiting) this.#waiting.push(message);
    else this.#socket.send(message);
  }

  #onMessage({ setupComplete, serverContent, toolCall, usageMetadata, goAway }: ServerMessage): void {
    if (setupComplete) {
      for (const message of this.#waiting ?? []) this.#socket.send(message);
      this.#waiting = undefined;
    }
    if (usageMetadata) this.#usage = usageOf(usageMetadata);
    if (goAway) this.#isLeaving = true;
    if (serverContent) this.#onContent(serverContent);
    if (toolCall) this.#onToolCall(toolCall.functionCalls);
  }

  #onContent(content: ServerContent): void {
    const { modelTurn, inputTranscription, outputTranscription, interrupted, turnComplete } = content;
    if (inputTranscription) this.#transcripts.onWords(inputTranscription.text);
    if (!this.#isStale) {
      for (const { inlineData } of modelTurn?.parts ?? [])
        if (inlineData) this.#onSpeech(readPcm16(Buffer.from(inlineData.data, 'base64')));
      if (outputTranscription) this.#onText(outputTranscription.text);
    }
    if (!turnComplete && !interrupted) return;
    // The end of an interrupted turn may follow the interruption, when the next answer is awaited.
    if (!this.#isStale && this.#hasContent) this.#onDone();
    if (this.#isStale && this.#usage) this.#onEvent({ type: 'usage', usage: this.#usage });
    if (this.#isStale) this.#usage = undefined;
    this.#isStale = false;
  }

  #onSpeech(samples: Int16Array): void {
    if (this.#speechId === undefined || samples.length === 0) return;
    this.#onAnswer();
    this.#onEvent({ type: 'speech', speechId: this.#speechId, samples });
  }

  #onText(text: string): void {
    if (this.#speechId === undefined || text === '') return;
    this.#onAnswer();
    this.#onEvent({ type: 'text', text, speechId: this.#speechId });
  }

  #onToolCall(calls: NonNullable<ServerMessage['toolCall']>['functionCalls']): void {
    if (this.#speechId === undefined || this.#isStale) return;
    this.#onAnswer();
    for (const { id, name, args } of calls) {
      this.#calls.set(id, name);
      this.#onEvent({ type: 'tool_call', call: { id, name, arguments: JSON.stringify(args) } });
    }
    this.#onDone();
  }

  #onAnswer(): void {
    this.#hasContent = true;
    this.#transcripts.onAnswer();
  }

  #onDone(): void {
    if (this.#speechId === undefined) return;
    this.#speechId = undefined;
    this.#transcripts.onAnswered();
    this.#onEvent({ type: 'done', usage: this.#usage });
    this.#usage = undefined;
    if (this.#utterance.length > 0) this.#sendUtterance();
  }
}
