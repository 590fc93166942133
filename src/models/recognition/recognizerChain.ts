import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Breakers } from '../failover/circuitBreaker.ts';
import type { ProviderMetrics } from '../ports/metrics.ts';
import { ModelError, skippedError } from '../ports/modelError.ts';
import type {
  RecognitionConnection,
  RecognitionConnectionOptions,
  RecognitionEvent,
  StreamingSpeechToText,
  TurnTranscript,
} from '../ports/streamingSpeechToText.ts';
import { AudioHistory } from './audioHistory.ts';
import { ConnectionRotation } from './connectionRotation.ts';

/** A vendor that has not connected, or has not answered a request for words, by then is left. */
const SLOW_MS = 1500;
/** A connection that lasted this long is made again to the same vendor; a shorter one was refused. */
const STABLE_MS = 5000;

/** A connection that replaces another one at a pause hears what was said since then and not told yet. */
const OVERLAP_MS = 1000;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8000;

export interface RecognizerChainDeps {
  readonly clock: Clock;
  readonly breakers: Breakers;
  /** Returns the metrics of a vendor by its name. */
  readonly metrics: (vendor: string) => ProviderMetrics;
  /** A vendor was left for the next one, or for a new connection to itself. */
  readonly onFallback: (from: string, to: string, error: ModelError) => void;
}

/**
 * Recognition by the first vendor that works, for one call: its name is that of the vendor that hears it. When a
 * connection is lost, the next one hears again what was said since the last words that were final, so that no audio is
 * lost. One that a vendor is about to end is replaced before.
 *
 * @param vendors - The vendors in the order of preference; at least one.
 */
export function createRecognizerChain(
  vendors: readonly StreamingSpeechToText[],
  deps: RecognizerChainDeps,
): StreamingSpeechToText {
  const [first] = vendors;
  if (!first) throw new RangeError('a chain of recognizers needs one');
  let current = first;
  const onVendor = (vendor: StreamingSpeechToText) => {
    current = vendor;
  };
  return {
    get name() {
      return current.name;
    },
    get detectsTurns() {
      return current.detectsTurns;
    },
    connect: (options, onEvent) => new ChainedConnection(vendors, { ...deps, onVendor }, options, onEvent),
    async close() {
      await Promise.all(vendors.map((vendor) => vendor.close()));
    },
  };
}

/** A connection to a vendor. */
interface Link {
  readonly vendor: StreamingSpeechToText;
  /** Position of its first sample in the stream. */
  readonly startMs: number;
  /** True once it has reported words. */
  hasReported: boolean;
}

interface ChainedConnectionDeps extends RecognizerChainDeps {
  /** Reports the vendor that recognizes the caller's speech from now on. */
  readonly onVendor: (vendor: StreamingSpeechToText) => void;
}

class ChainedConnection implements RecognitionConnection {
  readonly #vendors: readonly StreamingSpeechToText[];
  readonly #deps: ChainedConnectionDeps;
  readonly #options: RecognitionConnectionOptions;
  readonly #onEvent: (event: RecognitionEvent) => void;
  readonly #history: AudioHistory;
  #index = -1;
  /** The number of times that no vendor was left. */
  #rounds = 0;
  #connection: RecognitionConnection | undefined;
  /** The current connection; events of earlier ones are ignored. */
  #link: Link | undefined;
  #rotation: ConnectionRotation | undefined;
  /** A vendor that reported no word. It has failed if the next vendor reports some. */
  #deaf: { readonly vendor: StreamingSpeechToText; readonly error: ModelError } | undefined;
  #connectedAtMs: number | undefined;
  #deadline: Timer | undefined;
  #isClosed = false;

  constructor(
    vendors: readonly StreamingSpeechToText[],
    deps: ChainedConnectionDeps,
    options: RecognitionConnectionOptions,
    onEvent: (event: RecognitionEvent) => void,
  ) {
    this.#vendors = vendors.map((vendor) => vendor.select?.(options) ?? vendor);
    this.#deps = deps;
    this.#options = options;
    this.#onEvent = onEvent;
    this.#history = new AudioHistory(options.sampleRateHz);
    this.#connectNext(undefined);
  }

  push(samples: Int16Array): void {
    this.#history.push(samples);
    this.#connection?.push(samples);
    this.#rotation?.push(samples);
  }

  finalize(): boolean {
    this.#rotation?.onActivity();
    const isAsked = this.#connection?.finalize() ?? false;
    if (isAsked && this.#connectedAtMs !== undefined) this.#expectAnswer('did not answer in time');
    return isAsked;
  }

  leave(error: ModelError, lengthMs: number, mayReconnect: boolean): boolean {
    const vendor = this.#link?.vendor;
    const hasNext = this.#nextIndex() >= 0;
    if (!vendor || !(hasNext || mayReconnect)) return false;
    this.#history.keepLast(lengthMs);
    this.#disconnect();
    if (hasNext) {
      this.#deaf = { vendor, error };
      this.#connectNext(error);
    } else this.#connectAgain(vendor, error);
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#deadline?.cancel();
    this.#rotation?.close();
    this.#connection?.close();
  }

  /** @param error - Why the vendor before it was left. */
  #connectNext(error: ModelError | undefined): void {
    const next = this.#nextIndex();
    const index = next >= 0 || error ? next : 0;
    const vendor = this.#vendors[index];
    if (!vendor) {
      this.#startOver();
      if (error) this.#onEvent({ type: 'failed', error });
      return;
    }
    const [preferred] = this.#vendors;
    const left = this.#vendors[this.#index] ?? preferred;
    const isFirst = this.#index < 0;
    this.#connect(vendor, index);
    const reason = error ?? (isFirst && index > 0 ? skippedError() : undefined);
    if (reason) this.#deps.onFallback(left?.name ?? '', vendor.name, reason);
  }

  /** -1 where no vendor is left. */
  #nextIndex(): number {
    return this.#vendors.findIndex(
      ({ name }, index) => index > this.#index && this.#deps.breakers.isClosed(name),
    );
  }

  /** Starts again with the first vendor after all have failed, since it may be back soon. */
  #startOver(): void {
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#rounds);
    this.#rounds += 1;
    this.#index = -1;
    this.#deadline = this.#deps.clock.setTimer(() => this.#connectNext(undefined), delayMs);
  }

  #connect(vendor: StreamingSpeechToText, index: number): void {
    const isFirst = this.#index < 0 && this.#rounds === 0;
    this.#index = index;
    this.#deps.onVendor(vendor);
    this.#connectedAtMs = undefined;
    if (!isFirst) this.#onEvent({ type: 'reconnecting' });
    this.#expectAnswer('did not connect in time');
    const { startMs } = this.#history;
    const link = { vendor, startMs, hasReported: false };
    this.#link = link;
    this.#connection = this.#open(link, this.#history.chunks(), () => undefined);
  }

  /** @param onOther - Gets the events of a connection that is not the present one. */
  #open(
    link: Link,
    chunks: readonly Int16Array[],
    onOther: (event: RecognitionEvent) => void,
  ): RecognitionConnection {
    const connection = link.vendor.connect(this.#options, (event) => {
      if (this.#link === link) this.#onVendorEvent(link, event);
      else onOther(event);
    });
    for (const samples of chunks) connection.push(samples);
    return connection;
  }

  #startRotation(vendor: StreamingSpeechToText): void {
    const { maxAgeMs } = vendor;
    if (maxAgeMs === undefined) return;
    let link: Link | undefined;
    this.#rotation = new ConnectionRotation({
      clock: this.#deps.clock,
      maxAgeMs,
      connect: (onEvent) => {
        const { startMs, chunks } = this.#history.recent(OVERLAP_MS);
        link = { vendor, startMs, hasReported: false };
        return this.#open(link, chunks, onEvent);
      },
      onReplaced: (replacement) => {
        this.#connection?.close();
        this.#connection = replacement;
        this.#link = link;
        this.#connectedAtMs = this.#deps.clock.monotonicMs();
        this.#startRotation(vendor);
      },
    });
  }

  #onVendorEvent(link: Link, event: RecognitionEvent): void {
    const { vendor, startMs } = link;
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
      this.#startRotation(vendor);
      return;
    }
    this.#onWorking(link);
    this.#rotation?.onEvent(event);
    if (event.type === 'final' || event.type === 'end_of_turn') this.#history.forget();
    this.#onEvent(
      'transcript' in event ? { ...event, transcript: shifted(event.transcript, startMs) } : event,
    );
  }

  /** A vendor may refuse the key only after it has connected: words alone prove that it works. */
  #onWorking(link: Link): void {
    if (link.hasReported) return;
    link.hasReported = true;
    this.#deps.breakers.succeeded(link.vendor.name);
    this.#deps.metrics(link.vendor.name).recordOutput();
    if (this.#deaf && this.#deaf.vendor !== link.vendor)
      this.#recordFailure(this.#deaf.vendor, this.#deaf.error);
    this.#deaf = undefined;
  }

  #recordFailure({ name }: StreamingSpeechToText, error: ModelError): void {
    this.#deps.metrics(name).recordError(error);
    this.#deps.breakers.failed(name, error);
  }

  #onFailed(vendor: StreamingSpeechToText, error: ModelError): void {
    const { clock, metrics } = this.#deps;
    const lastedMs = clock.monotonicMs() - (this.#connectedAtMs ?? Number.POSITIVE_INFINITY);
    this.#disconnect();
    if (error.retryable && lastedMs >= STABLE_MS) {
      metrics(vendor.name).recordError(error);
      this.#connectAgain(vendor, error);
      return;
    }
    this.#recordFailure(vendor, error);
    this.#connectNext(error);
  }

  #disconnect(): void {
    this.#deadline?.cancel();
    this.#link = undefined;
    this.#rotation?.close();
    this.#rotation = undefined;
    this.#connection?.close();
    this.#connection = undefined;
  }

  #connectAgain(vendor: StreamingSpeechToText, error: ModelError): void {
    this.#deps.onFallback(vendor.name, vendor.name, error);
    this.#connect(vendor, this.#index);
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
}

/** Word times count from the call's first sample, not the connection's. */
function shifted(transcript: TurnTranscript, byMs: number): TurnTranscript {
  const { words } = transcript;
  if (!words || byMs === 0) return transcript;
  const moved = words.map(({ word, startMs, endMs }) => ({
    word,
    startMs: startMs + byMs,
    endMs: endMs + byMs,
  }));
  return { ...transcript, words: moved };
}
