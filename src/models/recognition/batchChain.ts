import type { Breakers } from '../failover/circuitBreaker.ts';
import { ModelError } from '../ports/modelError.ts';
import type {
  RecognitionOptions,
  RecognitionStream,
  SpeechToText,
  Transcript,
} from '../ports/speechToText.ts';

export interface BatchChainDeps {
  readonly breakers: Breakers;
  /** A vendor was left for the next one. */
  readonly onFallback: (from: string, to: string, error: ModelError) => void;
}

/**
 * Recognition of each utterance by the first vendor that works, for one call: its name is that of the vendor that has
 * heard the last one.
 *
 * @param vendors - The vendors in the order of preference; at least one.
 */
export function createBatchChain(vendors: readonly SpeechToText[], deps: BatchChainDeps): SpeechToText {
  const [first] = vendors;
  if (!first) throw new RangeError('a chain of recognizers needs one');
  let current = first;
  const onVendor = (vendor: SpeechToText) => {
    current = vendor;
  };
  return {
    get name() {
      return current.name;
    },
    openStream: (options) => new ChainedStream(vendors, { ...deps, onVendor }, options),
    async close() {
      await Promise.all(vendors.map((vendor) => vendor.close()));
    },
  };
}

interface ChainedStreamDeps extends BatchChainDeps {
  readonly onVendor: (vendor: SpeechToText) => void;
}

class ChainedStream implements RecognitionStream {
  readonly #vendors: readonly SpeechToText[];
  readonly #deps: ChainedStreamDeps;
  readonly #options: RecognitionOptions;
  readonly #chunks: Int16Array[] = [];
  #index: number;
  #stream: RecognitionStream | undefined;

  constructor(vendors: readonly SpeechToText[], deps: ChainedStreamDeps, options: RecognitionOptions) {
    this.#vendors = vendors;
    this.#deps = deps;
    this.#options = options;
    this.#index = Math.max(
      0,
      vendors.findIndex(({ name }) => deps.breakers.isClosed(name)),
    );
    this.#stream = vendors[this.#index]?.openStream(options);
  }

  push(samples: Int16Array): void {
    this.#chunks.push(samples.slice());
    this.#stream?.push(samples);
  }

  async finalize(signal: AbortSignal, isInterim?: boolean): Promise<Transcript> {
    const { breakers, onFallback } = this.#deps;
    for (;;) {
      const vendor = this.#vendors[this.#index];
      if (!vendor || !this.#stream) return { text: '' };
      try {
        const transcript = await this.#stream.finalize(signal, isInterim);
        breakers.succeeded(vendor.name);
        this.#deps.onVendor(vendor);
        return transcript;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelError)) throw error;
        breakers.failed(vendor.name, error);
        const next = this.#vendors[this.#index + 1];
        if (!next) throw error;
        onFallback(vendor.name, next.name, error);
        this.#stream.close();
        this.#index += 1;
        this.#stream = next.openStream(this.#options);
        for (const chunk of this.#chunks) this.#stream.push(chunk);
      }
    }
  }

  close(): void {
    this.#stream?.close();
    this.#stream = undefined;
    this.#chunks.length = 0;
  }
}
