import type { MakeId } from '../base/ids.ts';
import type { WebSocketGuard } from '../infra/httpClient/webSocket.ts';
import type { Embedder } from './ports/embedder.ts';
import type { StreamDeps } from './streamWithRetry.ts';

export interface Credentials {
  /** Absent for an endpoint without keys. */
  readonly apiKey?: string | undefined;
  /** Default: the vendor's own. */
  readonly baseUrl?: string | undefined;
}

/** What a vendor's factory may use. */
export interface ProviderOptions extends StreamDeps {
  readonly credentials: Credentials;
  /** Folders of programs, as in `PATH`. */
  readonly searchPath: string;
  readonly warn: (message: string, fields: object) => void;
}

export interface ChatOptions extends ProviderOptions {
  /** For tool calls. */
  readonly makeId: MakeId;
  /** Called once for each parameter that a model refuses and that its requests go without from then on. */
  readonly onRefused: (fields: {
    readonly model: string;
    readonly parameter: string;
    readonly refusal: string;
  }) => void;
  /** What a base URL of a user is held to; absent for one that the operator has configured. */
  readonly guard?: WebSocketGuard | undefined;
}

export interface SpeechToTextOptions extends ProviderOptions {
  /** Default: the vendor's own. */
  readonly model?: string | undefined;
  /** What only this vendor knows, by the names of its API. */
  readonly options?: unknown;
  /** What a base URL of a user is held to; absent for one that the operator has configured. */
  readonly guard?: WebSocketGuard | undefined;
}

export interface TextToSpeechOptions extends ProviderOptions {
  /** Of texts that name none. Default: the vendor's own. */
  readonly model?: string | undefined;
  /** The same. */
  readonly voice?: string | undefined;
  /** What only this vendor knows, by the names of its API. */
  readonly options?: unknown;
  /** What a base URL of a user is held to; absent for one that the operator has configured. */
  readonly guard?: WebSocketGuard | undefined;
}

export interface SpeechToSpeechOptions extends ProviderOptions {
  /** Default: the vendor's own. */
  readonly model?: string | undefined;
  /** The same. */
  readonly voice?: string | undefined;
  /** What a base URL of a user is held to; absent for one that the operator has configured. */
  readonly guard?: WebSocketGuard | undefined;
}

/** One vendor's embedding models. */
export interface EmbeddingProvider {
  readonly embedders: readonly Embedder[];
  close(): Promise<void>;
}
