import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Breakers } from '../failover/circuitBreaker.ts';
import { type Candidate, Failover, type OnFallback } from '../failover/failover.ts';
import type { ModelError } from '../ports/modelError.ts';
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
  readonly breakers?: Breakers | undefined;
  readonly onFallback: OnFallback<StreamingSpeechToText>;
}

/**
 * Recognition by the first vendor that works, for one call: its name is that of the vendor that hears it. When a
 * connection is lost, the next one hears again what was said since the last words that were final, so that no audio is
 * lost. One that a vendor is about to end is replaced before.
 *
 * @param vendors - The vendors in the order of preference; at least one.
 */
export function createRecognizerChain(
  vendors: readonly Candidate<StreamingSpeechToText>[],
  deps: RecognizerChainDeps,
): StreamingSpeechToText {
  const [first] = vendors;
  if (!first) throw new RangeError('a chain of recognizers needs one');
  let current = first.model;
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
      await Promise.all(vendors.map(({ model }) => model.close()));
    },
  };
}

/** A connection to the vendor that hears the caller. */
interface Link {
  readonly vendor: StreamingSpeechToText;
  /** Position of its first sample in the stream. */
  readonly startMs: number;
  connection?: RecognitionConnection;
  /** When it was connected; undefined before. */
  connectedAtMs?: number;
  /** True once it has reported words. */
  hasReported: boolean;
}

interface ChainedConnectionDeps extends RecognizerChainDeps {
  /** Reports the vendor that recognizes the caller's speech from now on. */
  readonly onVendor: (vendor: StreamingSpeechToText) => void;
}

class ChainedConnection implements RecognitionConnection {
  readonly #failover: Failover<StreamingSpeechToText>;
  readonly #deps: ChainedConnectionDeps;
  readonly #options: RecognitionConnectionOptions;
  readonly #onEvent: (event: RecognitionEvent) => void;
  readonly #history: AudioHistory;
  /** The number of times that no vendor was left. */
  #rounds = 0;
  #retry: Timer | undefined;
  /** The current connection; events of earlier ones are ignored. */
  #link: Link | undefined;
  #rotation: ConnectionRotation | undefined;
  #isClosed = false;

  constructor(
    vendors: readonly Candidate<StreamingSpeechToText>[],
    deps: ChainedConnectionDeps,
    options: RecognitionConnectionOptions,
    onEvent: (event: RecognitionEvent) => void,
  ) {
    const { clock, breakers, onVendor, onFallback } = deps;
    const selected = vendors.map((one) => ({ ...one, model: one.model.select?.(options) ?? one.model }));
    this.#failover = new Failover(selected, {
      clock,
      breakers,
      onFallback(from, to, error) {
        onVendor(to.model);
        onFallback(from, to, error);
      },
      onLate: (error) => this.#onLate(error),
    });
    this.#deps = deps;
    this.#options = options;
    this.#onEvent = onEvent;
    this.#history = new AudioHistory(options.sampleRateHz);
    this.#failover.start();
    this.#connect();
  }

  push(samples: Int16Array): void {
    this.#history.push(samples);
    this.#link?.connection?.push(samples);
    this.#rotation?.push(samples);
  }

  finalize(): boolean {
    this.#rotation?.onActivity();
    const { vendor, connection, connectedAtMs } = this.#link ?? {};
    const isAsked = connection?.finalize() ?? false;
    if (isAsked && connectedAtMs !== undefined)
      this.#failover.expect(SLOW_MS, `${vendor?.name} did not answer in time`);
    return isAsked;
  }

  leave(error: ModelError, lengthMs: number, mayReconnect: boolean): boolean {
    if (!this.#link || !(this.#failover.next || mayReconnect)) return false;
    this.#history.keepLast(lengthMs);
    this.#disconnect();
    if (!this.#failover.suspect(error)) this.#failover.again(error);
    this.#connectAgain();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#failover.close();
    this.#rotation?.close();
    this.#link?.connection?.close();
  }

  #connect(): void {
    const { model } = this.#failover.current;
    this.#deps.onVendor(model);
    this.#failover.expect(SLOW_MS, `${model.name} did not connect in time`);
    const { startMs } = this.#history;
    const link = { vendor: model, startMs, hasReported: false };
    this.#link = link;
    this.#open(link, this.#history.chunks(), () => undefined);
  }

  #connectAgain(): void {
    this.#onEvent({ type: 'reconnecting' });
    this.#connect();
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
    link.connection = connection;
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
      onReplaced: () => {
        this.#link?.connection?.close();
        this.#link = link;
        if (link) link.connectedAtMs = this.#deps.clock.monotonicMs();
        this.#startRotation(vendor);
      },
    });
  }

  #onVendorEvent(link: Link, event: RecognitionEvent): void {
    if (this.#isClosed) return;
    if (event.type === 'failed') {
      this.#onFailed(link, event.error);
      return;
    }
    this.#failover.stopWaiting();
    if (event.type === 'connected') {
      link.connectedAtMs = this.#deps.clock.monotonicMs();
      this.#rounds = 0;
      this.#onEvent(event);
      this.#startRotation(link.vendor);
      return;
    }
    this.#onWorking(link);
    this.#rotation?.onEvent(event);
    if (event.type === 'final' || event.type === 'end_of_turn') this.#history.forget();
    this.#onEvent(
      'transcript' in event ? { ...event, transcript: shifted(event.transcript, link.startMs) } : event,
    );
  }

  /** A vendor may refuse the key only after it has connected: words alone prove that it works. */
  #onWorking(link: Link): void {
    if (link.hasReported) return;
    link.hasReported = true;
    this.#failover.current.metrics?.recordOutput();
    this.#failover.succeeded();
  }

  #onFailed({ connectedAtMs = Number.POSITIVE_INFINITY }: Link, error: ModelError): void {
    const lastedMs = this.#deps.clock.monotonicMs() - connectedAtMs;
    if (!error.retryable || lastedMs < STABLE_MS) {
      this.#fail(error);
      return;
    }
    this.#disconnect();
    this.#failover.current.metrics?.recordError(error);
    this.#failover.again(error);
    this.#connectAgain();
  }

  #onLate(error: ModelError): void {
    if (!this.#isClosed) this.#fail(error);
  }

  /** Starts again with the first vendor after all have failed, since it may be back soon. */
  #fail(error: ModelError): void {
    this.#disconnect();
    if (this.#failover.fail(error)) {
      this.#connectAgain();
      return;
    }
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#rounds);
    this.#rounds += 1;
    this.#retry = this.#deps.clock.setTimer(() => {
      this.#failover.start();
      this.#connectAgain();
    }, delayMs);
    this.#onEvent({ type: 'failed', error });
  }

  #disconnect(): void {
    this.#failover.stopWaiting();
    this.#rotation?.close();
    this.#rotation = undefined;
    const { connection } = this.#link ?? {};
    this.#link = undefined;
    connection?.close();
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
