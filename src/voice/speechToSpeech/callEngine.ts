import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { ChatModel } from '../../models/ports/chatModel.ts';
import type { SpeechToText } from '../../models/ports/speechToText.ts';
import type { CallEngines, ProviderFallback } from '../../models/selection/callProviders.ts';
import { EngineConversation, type EngineConversationDeps } from './engineConversation.ts';

/** Vendors end long connections: one that held this long is made again with the next turn. */
const LONG_MS = 10 * 60_000;

/**
 * The speech-to-speech model of one call, as its nodes name it.
 *
 * ```text
 *              node with engine
 *   ordinary ───────────────────▶ conversing ─┐ node with another engine
 *    ▲    ▲                          │  │  ▲──┘
 *    │    └── node without engine ───┘  │
 *    └── lost: not tried again in this call, unless it had lasted long
 * ```
 *
 * The ordinary chain is recognition, chat model and synthesis. The model that is left forgets the conversation, and is
 * told it when it is entered again.
 */
export class CallEngine {
  readonly #deps: EngineConversationDeps;
  #current: { readonly key: string; readonly conversation: EngineConversation } | undefined;
  readonly #lost = new Set<string>();
  #isClosed = false;

  constructor(deps: EngineConversationDeps) {
    this.#deps = deps;
  }

  /** The recognizer of the engine; undefined for the ordinary chain. */
  get recognizer(): SpeechToText | undefined {
    return this.#current?.conversation.listening;
  }

  /** @returns The model, which connects; undefined for the ordinary chain. */
  use(config: EngineConfig | undefined): ChatModel | undefined {
    const key = config ? JSON.stringify(config) : '';
    if (this.#current?.key === key) return this.#current.conversation;
    this.#current?.conversation.close();
    this.#current = undefined;
    if (!config || this.#lost.has(key) || this.#isClosed) return undefined;
    const sinceMs = this.#deps.clock.monotonicMs();
    const onFallback: EngineConversationDeps['onFallback'] = (...change) => {
      this.#onLost(key, sinceMs);
      if (!this.#isClosed) this.#deps.onFallback(...change);
    };
    const conversation = new EngineConversation({ ...this.#deps, onFallback }, config);
    this.#current = { key, conversation };
    return conversation;
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.conversation.close();
    this.#current = undefined;
  }

  #onLost(key: string, sinceMs: number): void {
    if (this.#deps.clock.monotonicMs() - sinceMs < LONG_MS) this.#lost.add(key);
    if (this.#current?.key === key) this.#current = undefined;
  }
}

/** @returns The engine; undefined when no speech-to-speech models are configured. */
export function createCallEngine(
  { engines, stream, clock, onError }: CallParts,
  session: Pick<EngineConversationDeps, 'language' | 'transcribe'> & {
    readonly onFallback: (fallback: ProviderFallback) => void;
  },
): CallEngine | undefined {
  if (!engines) return undefined;
  return new CallEngine({
    ...session,
    engines,
    sampleRateHz: stream.info.sampleRateHz,
    clock,
    onFallback(from, to, error) {
      onError(error, 'speech-to-speech model lost');
      session.onFallback({ kind: 'engine', from: from.name, to: to.name, reason: error.message });
    },
  });
}

/** The engine's parts of a voice session. */
interface CallParts {
  readonly engines?: CallEngines | undefined;
  readonly stream: AudioStream;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}
