import type { Clock, Timer } from '../../base/clock.ts';
import type { Breakers } from '../circuitBreaker.ts';
import { ModelError } from '../ports/modelError.ts';
import type {
  RecognitionConnection,
  RecognitionConnectionOptions,
  RecognitionEvent,
  StreamingSpeechToText,
  TurnTranscript,
} from '../ports/streamingSpeechToText.ts';
import { AudioHistory } from './audioHistory.ts';

/** A vendor that has not connected, or has not answered a request for words, by then is left. */
const SLOW_MS = 1500;
/** A connection that lasted this long is made again to the same vendor; a shorter one was refused. */
const STABLE_MS = 5000;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8000;

export interface RecognizerChainDeps {
  readonly clock: Clock;
  readonly breakers: Breakers;
  /** A vendor was left for the next one, or for a new connection to itself. */
  readonly onFallback: (from: string, to: string, error: ModelError) => void;
}

/**
 * Recognition by the first vendor that works. When a connection is lost, the next one hears again what was said since
 * the last words that were final, so that no audio is lost.
 *
 * @param vendors - In the order of preference; at least one.
 */
export function createRecognizerChain(
  vendors: readonly StreamingSpeechToText[],
  deps: RecognizerChainDeps,
): StreamingSpeechToText {
  const [first] = vendors;
  if (!first) throw new RangeError('a chain of recognizers needs one');
  return {
    name: first.name,
    detectsTurns: first.detectsTurns,
    connect: (options, onEvent) => new ChainedConnection(vendors, deps, options, onEvent),
    async close() {
      await Promise.all(vendors.map((vendor) => vendor.close()));
    },
  };
}

class ChainedConnection implements RecognitionConnection {
  readonly #vendors: readonly StreamingSpeechToText[];
  readonly #deps: RecognizerChainDeps;
  readonly #options: RecognitionConnectionOptions;
  readonly #onEvent: (event: RecognitionEvent) => void;
  readonly #history: AudioHistory;
  #index = -1;
  #attempts = 0;
  /** Times that no vendor was left. */
  #rounds = 0;
  #connection: RecognitionConnection | undefined;
  /** Position of the connection's first sample in the stream. */
  #baseMs = 0;
  #connectedAtMs: number | undefined;
  #deadline: Timer | undefined;
  #isClosed = false;

  constructor(
    vendors: readonly StreamingSpeechToText[],
    deps: RecognizerChainDeps,
    options: RecognitionConnectionOptions,
    onEvent: (event: RecognitionEvent) => void,
  ) {
    this.#vendors = vendors;
    this.#deps = deps;
    this.#options = options;
    this.#onEvent = onEvent;
    this.#history = new AudioHistory(options.sampleRateHz);
    this.#connectNext(undefined);
  }

  push(samples: Int16Array): void {
    this.#history.push(samples);
    this.#connection?.push(samples);
  }

  finalize(): boolean {
    const isAsked = this.#connection?.finalize() ?? false;
    if (isAsked && this.#connectedAtMs !== undefined) this.#expectAnswer('did not answer in time');
    return isAsked;
  }

  close(): void {
    this.#isClosed = true;
    this.#deadline?.cancel();
    this.#connection?.close();
  }

  /** @param error - Why the vendor before it was left. */
  #connectNext(error: ModelError | undefined): void {
    const next = this.#vendors.findIndex(
      ({ name }, index) => index > this.#index && this.#deps.breakers.isClosed(name),
    );
    const index = next >= 0 || error ? next : 0;
    const vendor = this.#vendors[index];
    if (!vendor) {
      this.#startOver();
      if (error) this.#onEvent({ type: 'failed', error });
      return;
    }
    if (error) this.#deps.onFallback(this.#vendors[this.#index]?.name ?? '', vendor.name, error);
    this.#connect(vendor, index);
  }

  /** No vendor is left: the first one may be back soon. */
  #startOver(): void {
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#rounds);
    this.#rounds += 1;
    this.#index = -1;
    this.#deadline = this.#deps.clock.setTimer(() => this.#connectNext(undefined), delayMs);
  }

  #connect(vendor: StreamingSpeechToText, index: number): void {
    this.#index = index;
    this.#connectedAtMs = undefined;
    this.#baseMs = this.#history.startMs;
    this.#expectAnswer('did not connect in time');
    this.#attempts += 1;
    const attempt = this.#attempts;
    const connection = vendor.connect(this.#options, (event) => {
      if (attempt === this.#attempts) this.#onVendorEvent(vendor, event);
    });
    this.#connection = connection;
    for (const samples of this.#history.chunks()) connection.push(samples);
  }

  #onVendorEvent(vendor: StreamingSpeechToText, event: RecognitionEvent): void {
    if (this.#isClosed) return;
    if (event.type === 'failed') {
      this.#onFailed(vendor, event.error);
      return;
    }
    this.#deadline?.cancel();
    if (event.type === 'connected') {
      this.#connectedAtMs = this.#deps.clock.monotonicMs();
      this.#rounds = 0;
      this.#onEvent(event);
      this.#deps.breakers.succeeded(vendor.name);
      return;
    }
    if (event.type === 'final' || event.type === 'end_of_turn') this.#history.forget();
    this.#onEvent('transcript' in event ? { ...event, transcript: this.#shifted(event.transcript) } : event);
  }

  #onFailed(vendor: StreamingSpeechToText, error: ModelError): void {
    const { clock, breakers, onFallback } = this.#deps;
    this.#deadline?.cancel();
    const lastedMs = clock.monotonicMs() - (this.#connectedAtMs ?? Number.POSITIVE_INFINITY);
    this.#attempts += 1;
    this.#connection?.close();
    this.#connection = undefined;
    if (error.retryable && lastedMs >= STABLE_MS) {
      onFallback(vendor.name, vendor.name, error);
      this.#connect(vendor, this.#index);
      return;
    }
    breakers.failed(vendor.name, error);
    this.#connectNext(error);
  }

  #expectAnswer(problem: string): void {
    this.#deadline?.cancel();
    const vendor = this.#vendors[this.#index];
    if (!vendor) return;
    this.#deadline = this.#deps.clock.setTimer(() => {
      this.#connectedAtMs = undefined;
      this.#onFailed(vendor, new ModelError('model_unavailable', `${vendor.name} ${problem}`));
    }, SLOW_MS);
  }

  /** Word times count from the call's first sample, not the connection's. */
  #shifted(transcript: TurnTranscript): TurnTranscript {
    const { words } = transcript;
    if (!words || this.#baseMs === 0) return transcript;
    const shifted = words.map(({ word, startMs, endMs }) => ({
      word,
      startMs: startMs + this.#baseMs,
      endMs: endMs + this.#baseMs,
    }));
    return { ...transcript, words: shifted };
  }
}
