import type { Clock } from '../base/clock.ts';
import { type LinkedAbort, linkAbort } from '../base/linkedAbort.ts';
import { sleep } from '../base/sleep.ts';
import { createWatchdog, type Watchdog } from '../base/watchdog.ts';
import type { ChatEvent, ChatModel, ChatRequest } from './ports/chatModel.ts';
import { ModelError } from './ports/modelError.ts';

/** The first try and one more: a person is waiting, and a second failure says that it is no accident. */
const MOST_ATTEMPTS = 2;
/** Lets a lost connection or a restarting process settle; hardly heard on the phone. */
const RETRY_DELAY_MS = 200;
/** More than any model writes in one answer: one that is caught in a loop would go on for ever. */
const LONGEST_ANSWER_CHARACTERS = 1_000_000;
/** An endpoint that wants a longer rest than this gets no second try, since the person would hear silence. */
const LONGEST_RETRY_DELAY_MS = 2000;

export interface ResilienceDeps {
  readonly clock: Clock;
  /** Bounds each attempt's wait for the first event, and every wait for a further one. */
  readonly timeoutMs: number;
  /** Announces each failure that is answered by another attempt. */
  readonly onRetry?: (error: ModelError) => void;
}

/**
 * Makes a model patient to a measure: a failure before the first event is tried once more where that may help, a
 * silent model is given up, and what was begun is never begun again. The time that the reader takes between two reads
 * does not count. Leaving the loop, also while a read is pending, aborts the model's request at once.
 */
export function createResilientModel(model: ChatModel, deps: ResilienceDeps): ChatModel {
  return {
    name: model.name,
    stream: (request, signal) => ({
      [Symbol.asyncIterator]: () => new ResilientAnswer(model, deps, request, signal),
    }),
  };
}

class ResilientAnswer implements AsyncIterator<ChatEvent, undefined> {
  readonly #model: ChatModel;
  readonly #deps: ResilienceDeps;
  readonly #request: ChatRequest;
  readonly #outerSignal: AbortSignal;
  readonly #watchdog: Watchdog;
  #attempts = 0;
  #characters = 0;
  #attempt: LinkedAbort | undefined;
  #events: AsyncIterator<ChatEvent> | undefined;
  #begun = false;
  #ended = false;
  #closed = false;

  constructor(model: ChatModel, deps: ResilienceDeps, request: ChatRequest, signal: AbortSignal) {
    this.#model = model;
    this.#deps = deps;
    this.#request = request;
    this.#outerSignal = signal;
    this.#watchdog = createWatchdog(deps.clock, deps.timeoutMs, () => this.#giveUpWaiting());
  }

  async next(): Promise<IteratorResult<ChatEvent, undefined>> {
    while (!this.#closed) {
      try {
        const event = await this.#read();
        if (!event || this.#closed) break;
        return { done: false, value: event };
      } catch (error) {
        // Only an abort or a timeout stops the attempt: its reason says more than what the model made of it.
        const failure: unknown = this.#attempt?.signal.aborted ? this.#attempt.signal.reason : error;
        if (this.#closed || this.#ended) break;
        const delayMs = this.#retryDelayMs(failure);
        if (delayMs === undefined) {
          this.#close();
          throw failure;
        }
        await this.#rest(delayMs);
      }
    }
    this.#close();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ChatEvent, undefined>> {
    this.#close();
    this.#attempt?.abort(new Error('The reader of the answer left'));
    await this.#events?.return?.();
    return { done: true, value: undefined };
  }

  async #read(): Promise<ChatEvent | undefined> {
    this.#events ??= this.#start();
    this.#watchdog.start();
    const { done, value } = await this.#events.next();
    this.#watchdog.stop();
    if (!done) {
      this.#begun = true;
      if (value.type === 'end') this.#ended = true;
      if (value.type === 'text') this.#count(value.text);
      return value;
    }
    if (this.#ended) return undefined;
    throw new ModelError('model_malformed', 'The model broke off in the middle of its answer', {
      beforeFirstToken: !this.#begun,
    });
  }

  #count(text: string): void {
    this.#characters += text.length;
    if (this.#characters <= LONGEST_ANSWER_CHARACTERS) return;
    const failure = new ModelError('model_malformed', 'The model does not stop writing', {
      beforeFirstToken: false,
    });
    this.#attempt?.abort(failure);
    throw failure;
  }

  #start(): AsyncIterator<ChatEvent> {
    this.#attempts++;
    this.#attempt ??= linkAbort(this.#outerSignal);
    return this.#model.stream(this.#request, this.#attempt.signal)[Symbol.asyncIterator]();
  }

  /** @returns How long to wait before another attempt; undefined when there must be none. */
  #retryDelayMs(failure: unknown): number | undefined {
    if (this.#begun || this.#attempts >= MOST_ATTEMPTS || this.#outerSignal.aborted) return undefined;
    if (!(failure instanceof ModelError) || !failure.retryable) return undefined;
    const delayMs = Math.max(RETRY_DELAY_MS, (failure.retryAfterSeconds ?? 0) * 1000);
    if (delayMs > LONGEST_RETRY_DELAY_MS) return undefined;
    this.#deps.onRetry?.(failure);
    return delayMs;
  }

  /** Makes ready for another attempt, and waits; an abort ends the wait, and the attempt then fails at once. */
  async #rest(delayMs: number): Promise<void> {
    this.#watchdog.stop();
    this.#attempt?.unlink();
    this.#events = undefined;
    const attempt = linkAbort(this.#outerSignal);
    this.#attempt = attempt;
    await sleep(this.#deps.clock, delayMs, attempt.signal).catch(() => undefined);
  }

  #giveUpWaiting(): void {
    const seconds = this.#deps.timeoutMs / 1000;
    const message = this.#begun
      ? `The model fell silent for ${seconds} s in the middle of its answer`
      : `The model did not begin to answer within ${seconds} s`;
    this.#attempt?.abort(new ModelError('model_unavailable', message, { beforeFirstToken: !this.#begun }));
  }

  #close(): void {
    this.#closed = true;
    this.#watchdog.close();
    this.#attempt?.unlink();
  }
}
