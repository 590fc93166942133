import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { ChatModel } from '../../providers/ports/chatModel.ts';
import type { ModelError } from '../../providers/ports/modelError.ts';
import type { SpeechToText } from '../../providers/ports/speechToText.ts';
import { EngineConversation, type EngineConversationDeps } from './engineConversation.ts';

export interface CallEngineDeps extends Omit<EngineConversationDeps, 'onLost'> {
  /** The ordinary chain takes over. */
  readonly onFallback: (from: string, error: ModelError) => void;
}

/**
 * The speech-to-speech model of one call, as its nodes name it.
 *
 * ```text
 *              node with engine
 *   ordinary ───────────────────▶ conversing ─┐ node with another engine
 *    ▲    ▲                          │  │  ▲──┘
 *    │    └── node without engine ───┘  │
 *    └── lost: not tried again in this call
 * ```
 *
 * The ordinary chain is recognition, chat model and synthesis. The model that is left forgets the conversation, and is
 * told it when it is entered again.
 */
export class CallEngine {
  readonly #deps: CallEngineDeps;
  #current: { readonly key: string; readonly conversation: EngineConversation } | undefined;
  readonly #lost = new Set<string>();
  #isClosed = false;

  constructor(deps: CallEngineDeps) {
    this.#deps = deps;
  }

  /** What hears the caller; undefined for the ordinary chain. */
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
    const onLost = (error: ModelError) => this.#onLost(key, config, error);
    const conversation = new EngineConversation({ ...this.#deps, onLost }, config);
    this.#current = { key, conversation };
    return conversation;
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#current?.conversation.close();
    this.#current = undefined;
  }

  #onLost(key: string, { provider }: EngineConfig, error: ModelError): void {
    this.#lost.add(key);
    if (this.#current?.key === key) this.#current = undefined;
    if (!this.#isClosed) this.#deps.onFallback(provider, error);
  }
}
