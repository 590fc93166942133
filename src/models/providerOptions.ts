import type { MakeId } from '../base/values/ids.ts';
import type { TargetGuard } from '../http/lookup.ts';
import type { StreamDeps } from './failover/streamWithRetry.ts';
import type { Embedder } from './ports/embedder.ts';

export interface Credentials {
  /** The API key; undefined for an endpoint without keys. */
  readonly apiKey?: string | undefined;
  /** The vendor's address. Default: the vendor's own. */
  readonly baseUrl?: string | undefined;
}

/** The dependencies and settings of a vendor's factory. */
export interface ProviderOptions extends StreamDeps {
  readonly credentials: Credentials;
  /** Folders of programs, as in `PATH`. */
  readonly searchPath: string;
  readonly warn: (message: string, fields: object) => void;
}

export interface ChatOptions extends ProviderOptions {
  /** Makes ids for tool calls. */
  readonly makeId: MakeId;
  /** Reports each parameter that a model refuses, once. Later requests to the model are sent without it. */
  readonly onRefused: (fields: {
    readonly model: string;
    readonly parameter: string;
    readonly refusal: string;
  }) => void;
  /** Checks a base URL that a user configures; undefined for the operator's own. */
  readonly guard?: TargetGuard | undefined;
}

export interface SpeechToTextOptions extends ProviderOptions {
  /** The model. Default: the vendor's own. */
  readonly model?: string | undefined;
  /** The options of this vendor alone, by the names of its API. */
  readonly options?: unknown;
  /** Checks a base URL that a user configures; undefined for the operator's own. */
  readonly guard?: TargetGuard | undefined;
}

export interface TextToSpeechOptions extends ProviderOptions {
  /** The model for texts that name none. Default: the vendor's own. */
  readonly model?: string | undefined;
  /** The voice. Default: the vendor's own. */
  readonly voice?: string | undefined;
  /** The options of this vendor alone, by the names of its API. */
  readonly options?: unknown;
  /** Checks a base URL that a user configures; undefined for the operator's own. */
  readonly guard?: TargetGuard | undefined;
}

export interface SpeechToSpeechOptions extends ProviderOptions {
  /** The model. Default: the vendor's own. */
  readonly model?: string | undefined;
  /** The voice. Default: the vendor's own. */
  readonly voice?: string | undefined;
  /** Checks a base URL that a user configures; undefined for the operator's own. */
  readonly guard?: TargetGuard | undefined;
}

/** A vendor's embedding models. */
export interface EmbeddingProvider {
  readonly embedders: readonly Embedder[];
  close(): Promise<void>;
}
