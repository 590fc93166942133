import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type {
  SpeechToSpeech,
  SpeechToSpeechConnection,
  SpeechToSpeechEvent,
} from '../../models/ports/speechToSpeech.ts';
import type { CallEngines } from '../../models/selection/callProviders.ts';
import { EngineAnswer } from './engineAnswer.ts';
import { EngineListening, type TranscribeFrames } from './engineListening.ts';
import { KnownConversation } from './knownConversation.ts';

/** The timeout of the connection, and then of the first sound or tool call of an answer. */
const START_TIMEOUT_MS = 1500;
/** The timeout between two pieces of an answer, which comes faster than it is played. */
const GAP_TIMEOUT_MS = 4000;

export interface EngineConversationDeps {
  readonly engines: CallEngines;
  /** The sample rate of the caller's audio. */
  readonly sampleRateHz: number;
  readonly language: () => string;
  readonly transcribe: TranscribeFrames;
  readonly clock: Clock;
  /** Called once. */
  readonly onLost: (error: ModelError) => void;
}

interface Connected {
  readonly engine: SpeechToSpeech;
  readonly connection: SpeechToSpeechConnection;
}

/**
 * One conversation with a speech-to-speech model: what it hears is a recognizer, what it answers a chat model that
 * speaks itself.
 *
 * ```text
 *   connecting ──connected──▶ ready ──stream──▶ answering
 *       │                       ▲                 │   │
 *       │                       └── done, abort ──┘   │
 *       │ refused, late         │ closed              │ refused, closed, late
 *       └──────────▶ lost ◀─────┴─────────────────────┘
 * ```
 *
 * What is pushed, committed or asked for while it connects is sent once it is connected. It is not connected again.
 */
export class EngineConversation implements ChatModel {
  readonly name: string;
  readonly listening: EngineListening;
  readonly #deps: EngineConversationDeps;
  readonly #model: string;
  readonly #known = new KnownConversation();
  #connected: Connected | undefined;
  #state: 'connecting' | 'ready' | 'lost' = 'connecting';
  #answer: EngineAnswer | undefined;
  /** When the current answer was requested; undefined once its first output has come. */
  #askedAtMs: number | undefined;
  #timer: Timer | undefined;
  readonly #found: Promise<Connected>;
  readonly #failed: Promise<never>;
  #reject: (error: unknown) => void = () => undefined;

  constructor(deps: EngineConversationDeps, config: EngineConfig) {
    this.#deps = deps;
    this.name = config.provider;
    this.#model = config.model ?? config.provider;
    this.listening = new EngineListening({
      name: this.name,
      listener: () => (this.#state === 'lost' ? undefined : this.#connected?.connection),
      transcribe: deps.transcribe,
      onHeard: (text) => this.#known.heard(text),
      clock: deps.clock,
    });
    this.#failed = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#failed.catch(() => undefined);
    this.#expect(START_TIMEOUT_MS, 'did not connect in time');
    this.#found = this.#connect(config);
    this.#found.catch((error: unknown) => this.#lose(error));
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent, void> {
    this.#askedAtMs = this.#deps.clock.monotonicMs();
    const { engine, connection } = await Promise.race([this.#failed, this.#found]);
    signal.throwIfAborted();
    const answer = new EngineAnswer({
      engine,
      model: this.#model,
      truncate: (speechId, heardMs) => this.#truncate(speechId, heardMs),
    });
    const abort = () => answer.fail(signal.reason);
    signal.addEventListener('abort', abort);
    this.#answer = answer;
    try {
      const [instructions, ...messages] = request.messages;
      connection.answer({
        instructions: instructions?.content ?? '',
        step: request.step ?? '',
        tools: request.tools ?? [],
        withheldTools: request.withheldTools ?? [],
        messages: messages as readonly ChatMessage[],
        news: this.#known.takeNews(messages),
      });
      if (this.#state === 'ready') this.#expect(START_TIMEOUT_MS, 'did not start to answer in time');
      yield* answer.events();
    } finally {
      signal.removeEventListener('abort', abort);
      if (this.#state === 'ready') this.#timer?.cancel();
      this.#answer = undefined;
      if (!answer.isOver || signal.aborted) connection.cancel();
    }
  }

  /** Idempotent. */
  close(): void {
    this.#state = 'lost';
    this.#timer?.cancel();
    this.#connected?.connection.close();
    const left = new ModelError('model_unavailable', `${this.name} was left`);
    this.#answer?.fail(left);
    this.#reject(left);
    this.listening.onLost();
  }

  async #connect(config: EngineConfig): Promise<Connected> {
    const { engines, sampleRateHz, language } = this.#deps;
    const engine = await engines.find(config);
    const options = { sampleRateHz, language: language() };
    const connection = engine.connect(options, (event) => this.#onEvent(event));
    if (this.#state === 'lost') connection.close();
    this.#connected = { engine, connection };
    return this.#connected;
  }

  #onEvent(event: SpeechToSpeechEvent): void {
    if (this.#state === 'lost') return;
    switch (event.type) {
      case 'connected':
        this.#state = 'ready';
        if (this.#answer) this.#expect(START_TIMEOUT_MS, 'did not start to answer in time');
        else this.#timer?.cancel();
        return;
      case 'transcript':
        this.listening.onTranscript(event.commit, event.text, event.isFinal);
        return;
      case 'transcript_lost':
        this.listening.onTranscriptLost(event.commit);
        return;
      case 'failed':
        this.#lose(event.error);
        return;
      case 'tool_call':
        this.#known.called(event.call.id);
        break;
      case 'text':
        this.#known.said(event.text);
        break;
      default:
    }
    if (!this.#answer) return;
    this.#noteFirstOutput();
    try {
      this.#answer.take(event);
    } catch (error) {
      this.#lose(error);
      return;
    }
    if (event.type !== 'done') this.#expect(GAP_TIMEOUT_MS, 'stopped in the middle of an answer');
    else this.#onDone();
  }

  #noteFirstOutput(): void {
    const { clock, engines } = this.#deps;
    if (this.#connected && this.#askedAtMs !== undefined)
      engines.reportFirstOutput(this.#connected.engine, clock.monotonicMs() - this.#askedAtMs);
    this.#askedAtMs = undefined;
  }

  #onDone(): void {
    this.#timer?.cancel();
    if (this.#connected) this.#deps.engines.report(this.#connected.engine);
  }

  #truncate(speechId: string, heardMs: number): void {
    if (this.#state !== 'lost') this.#connected?.connection.truncate(speechId, heardMs);
  }

  #expect(timeoutMs: number, failure: string): void {
    this.#timer?.cancel();
    const late = () => this.#lose(new ModelError('model_unavailable', `${this.name} ${failure}`));
    this.#timer = this.#deps.clock.setTimer(late, timeoutMs);
  }

  #lose(cause: unknown): void {
    if (this.#state === 'lost') return;
    const error =
      cause instanceof ModelError
        ? cause
        : new ModelError('model_unavailable', `${this.name} cannot be used`, { cause });
    this.#answer?.fail(error);
    this.#reject(error);
    if (this.#connected) this.#deps.engines.report(this.#connected.engine, error);
    this.close();
    this.#deps.onLost(error);
  }
}
