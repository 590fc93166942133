import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type Candidate, Failover, type OnFallback } from '../../models/failover/failover.ts';
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
  /** The ordinary chain takes over. Called once. */
  readonly onFallback: OnFallback<SpeechToSpeech | undefined>;
}

/** What follows an engine: recognition, chat model and synthesis. */
const CHAIN = { model: undefined, name: 'chain' };

interface Connected {
  readonly candidate: Candidate<SpeechToSpeech>;
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
  readonly #known = new KnownConversation();
  #connected: Connected | undefined;
  #state: 'connecting' | 'ready' | 'lost' = 'connecting';
  #answer: EngineAnswer | undefined;
  /** When the current answer was requested; undefined once its first output has come. */
  #askedAtMs: number | undefined;
  readonly #failover: Failover<SpeechToSpeech | undefined>;
  readonly #found: Promise<Connected>;
  readonly #failed: Promise<never>;
  #reject: (error: unknown) => void = () => undefined;

  constructor(deps: EngineConversationDeps, config: EngineConfig) {
    this.#deps = deps;
    this.name = config.provider;
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
    const connected = () => this.#connected?.candidate;
    const engine = {
      model: undefined,
      name: this.name,
      // They are known once it is found.
      get breaker() {
        return connected()?.breaker;
      },
      get metrics() {
        return connected()?.metrics;
      },
    };
    const {
      clock,
      engines: { breakers },
      onFallback,
    } = deps;
    const onLate = (error: ModelError) => this.#lose(error);
    this.#failover = new Failover<SpeechToSpeech | undefined>([engine, CHAIN], {
      clock,
      breakers,
      onFallback,
      onLate,
    });
    this.#expect(START_TIMEOUT_MS, 'did not connect in time');
    this.#found = this.#connect(config);
    this.#found.catch((error: unknown) => this.#lose(error));
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent, void> {
    this.#askedAtMs = this.#deps.clock.monotonicMs();
    const { candidate, connection } = await Promise.race([this.#failed, this.#found]);
    signal.throwIfAborted();
    const answer = new EngineAnswer({
      engine: candidate.model,
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
      if (this.#state === 'ready') this.#failover.close();
      this.#answer = undefined;
      if (!answer.isOver || signal.aborted) connection.cancel();
    }
  }

  close(): void {
    this.#state = 'lost';
    this.#failover.close();
    this.#connected?.connection.close();
    const left = new ModelError('model_unavailable', `${this.name} was left`);
    this.#answer?.fail(left);
    this.#reject(left);
    this.listening.onLost();
  }

  async #connect(config: EngineConfig): Promise<Connected> {
    const { engines, sampleRateHz, language } = this.#deps;
    const candidate = await engines.find(config);
    const options = { sampleRateHz, language: language() };
    const connection = candidate.model.connect(options, (event) => this.#onEvent(event));
    if (this.#state === 'lost') connection.close();
    this.#connected = { candidate, connection };
    return this.#connected;
  }

  #onEvent(event: SpeechToSpeechEvent): void {
    if (this.#state === 'lost') return;
    switch (event.type) {
      case 'connected':
        this.#state = 'ready';
        if (this.#answer) this.#expect(START_TIMEOUT_MS, 'did not start to answer in time');
        else this.#failover.close();
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
      case 'usage':
        return;
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
    else {
      this.#failover.close();
      this.#failover.succeeded();
    }
  }

  #noteFirstOutput(): void {
    if (this.#askedAtMs !== undefined)
      this.#failover.current.metrics?.recordFirstOutput(this.#deps.clock.monotonicMs() - this.#askedAtMs);
    this.#askedAtMs = undefined;
  }

  #truncate(speechId: string, heardMs: number): void {
    if (this.#state !== 'lost') this.#connected?.connection.truncate(speechId, heardMs);
  }

  #expect(timeoutMs: number, failure: string): void {
    this.#failover.expect(timeoutMs, `${this.name} ${failure}`);
  }

  #lose(cause: unknown): void {
    if (this.#state === 'lost') return;
    const error =
      cause instanceof ModelError
        ? cause
        : new ModelError('model_unavailable', `${this.name} cannot be used`, { cause });
    this.#answer?.fail(error);
    this.#reject(error);
    this.close();
    this.#failover.fail(error);
  }
}
