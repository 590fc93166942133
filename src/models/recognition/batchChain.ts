import type { Clock } from '../../base/values/clock.ts';
import type { Breakers } from '../failover/circuitBreaker.ts';
import { type Candidate, Failover, type OnFallback } from '../failover/failover.ts';
import { requestWithFailover } from '../failover/streamWithFailover.ts';
import type {
  RecognitionOptions,
  RecognitionStream,
  SpeechToText,
  Transcript,
} from '../ports/speechToText.ts';

/** A vendor that has not answered by then is left for the next one. The caller is silent, and waits. */
const SLOW_MS = 4000;

export interface BatchChainDeps {
  readonly clock: Clock;
  readonly breakers?: Breakers | undefined;
  readonly onFallback?: OnFallback<SpeechToText> | undefined;
}

/**
 * Recognition of each utterance by the first vendor that works, for one call: its name is that of the vendor that has
 * heard the last one. The next vendor hears the whole utterance.
 *
 * @param vendors - The vendors in the order of preference; at least one.
 */
export function createBatchChain(
  vendors: readonly Candidate<SpeechToText>[],
  deps: BatchChainDeps,
): SpeechToText {
  const { clock, breakers } = deps;
  const first = () => new Failover(vendors, { clock, breakers, onLate: () => undefined }).current;
  let { name } = first();
  return {
    get name() {
      return name;
    },
    openStream(options) {
      const onAnswer = (vendor: Candidate<SpeechToText>) => {
        name = vendor.name;
      };
      const stream = new ChainedStream(vendors, deps, options, onAnswer);
      stream.open(first());
      return stream;
    },
    async close() {
      await Promise.all(vendors.map(({ model }) => model.close()));
    },
  };
}

class ChainedStream implements RecognitionStream {
  readonly #vendors: readonly Candidate<SpeechToText>[];
  readonly #deps: BatchChainDeps;
  readonly #options: RecognitionOptions;
  readonly #onAnswer: (vendor: Candidate<SpeechToText>) => void;
  readonly #chunks: Int16Array[] = [];
  readonly #streams = new Map<Candidate<SpeechToText>, RecognitionStream>();

  constructor(
    vendors: readonly Candidate<SpeechToText>[],
    deps: BatchChainDeps,
    options: RecognitionOptions,
    onAnswer: (vendor: Candidate<SpeechToText>) => void,
  ) {
    this.#vendors = vendors;
    this.#deps = deps;
    this.#options = options;
    this.#onAnswer = onAnswer;
  }

  /** @returns The vendor's stream, which has heard the utterance so far. */
  open(vendor: Candidate<SpeechToText>): RecognitionStream {
    const known = this.#streams.get(vendor);
    if (known) return known;
    const stream = vendor.model.openStream(this.#options);
    this.#streams.set(vendor, stream);
    for (const chunk of this.#chunks) stream.push(chunk);
    return stream;
  }

  push(samples: Int16Array): void {
    if (this.#vendors.length > 1) this.#chunks.push(samples.slice());
    for (const stream of this.#streams.values()) stream.push(samples);
  }

  finalize(signal: AbortSignal, isInterim?: boolean): Promise<Transcript> {
    const { clock, breakers, onFallback } = this.#deps;
    return requestWithFailover(
      {
        candidates: this.#vendors,
        clock,
        breakers,
        onFallback,
        ask: async (vendor, attemptSignal) => {
          const transcript = await this.open(vendor).finalize(attemptSignal, isInterim);
          this.#onAnswer(vendor);
          return transcript;
        },
        firstOutputMs: (_vendor, hasNext) => (hasNext ? SLOW_MS : undefined),
        late: () => 'The speech recognition did not answer in time',
      },
      signal,
    );
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
    this.#chunks.length = 0;
  }
}
