import { sleep } from '../base/async/sleep.ts';
import type { Clock } from '../base/values/clock.ts';
import { type EventFeed, type FeedListener, type StreamedEvent, streamedEvent } from './eventFeed.ts';
import { compareEventIds, placeOf } from './eventId.ts';
import { INTERIM, type LiveEventType } from './liveEvent.ts';
import { MAX_EVENT_CHARACTERS } from './liveEvents.ts';

/** Several hundred events. The operating system has as much again. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Read at once by a stream that catches up: as much, where each event is as long as it may be. */
const PAGE = MAX_BUFFERED_BYTES / MAX_EVENT_CHARACTERS;
const RETRY_MS = 1_000;

/** Selects the events of a stream. */
export interface EventFilter {
  /** The event types to send; undefined sends all. */
  readonly types?: ReadonlySet<LiveEventType> | undefined;
  readonly sessionId?: string | undefined;
  readonly callId?: string | undefined;
  readonly interim: boolean;
}

/** The client's connection. */
export interface EventSink {
  /** Sends the text without waiting for the client. */
  send(text: string): void;
  /** The bytes that the client has not read yet. */
  readonly bufferedBytes: number;
  /** Resolves once the client has taken all, or is gone. */
  drained(): Promise<void>;
  end(text: string): void;
}

export interface LiveStreamDeps {
  readonly feed: EventFeed;
  readonly clock: Clock;
  readonly onSlowReader: () => void;
}

/**
 * One client's stream of a project's events.
 *
 * ```
 *               nothing is missing
 *  catching up ────────────────────▶ live
 *      ▲  reads what is kept          │ sends what happens
 *      └──────────────────────────────┘ events may have been missed
 * ```
 *
 * A live client that does not take what happens is dropped; one that catches up is waited for.
 */
export class LiveStream implements FeedListener {
  readonly #deps: LiveStreamDeps;
  readonly #projectId: string;
  readonly #filter: EventFilter;
  /** The client's connection; undefined before {@link run}. */
  #sink: EventSink | undefined;
  /** The id of the last event that the client has, or did not want. */
  #place = '0-0';
  #isLive = false;
  #isCatchingUp = false;
  /** Something has happened since the last page was read. */
  #hasMissed = false;
  #isClosed = false;

  constructor(deps: LiveStreamDeps, projectId: string, filter: EventFilter) {
    this.#deps = deps;
    this.#projectId = projectId;
    this.#filter = filter;
  }

  /**
   * Finds the stream's place; nothing is sent before {@link run}.
   *
   * @param lastEventId - The last event that the client has; undefined starts with what happens from now on.
   * @returns Whether the client may have missed events that are not kept any more.
   */
  async seek(lastEventId: string | undefined): Promise<boolean> {
    const { feed } = this.#deps;
    const newest = await feed.newest(this.#projectId);
    const place = lastEventId === undefined ? newest : (placeOf(lastEventId) ?? newest);
    const isAhead = compareEventIds(place, newest) > 0;
    this.#place = isAhead ? newest : place;
    return place !== '0-0' && place !== newest && !(await feed.has(this.#projectId, place));
  }

  /** Sends from the place on. */
  run(sink: EventSink): void {
    this.#sink = sink;
    if (this.#isClosed) sink.end('');
    else void this.#catchUp();
  }

  /** Idempotent. @param reason - Told as an event `error`. */
  close(reason?: { readonly code: string; readonly message: string }): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sink?.end(reason ? errorEvent(reason) : '');
  }

  onEvent(event: StreamedEvent): void {
    if (event.type === INTERIM) {
      if (this.#isLive) this.#send(event);
    } else if (!this.#isLive) this.#hasMissed = true;
    else if (compareEventIds(event.id, this.#place) > 0) {
      this.#place = event.id;
      this.#send(event);
    }
    if (this.#isClosed || !this.#isLive || !this.#sink || this.#sink.bufferedBytes <= MAX_BUFFERED_BYTES)
      return;
    this.#deps.onSlowReader();
    this.close({ code: 'slow_reader', message: 'The client does not read as fast as events happen' });
  }

  onGap(): void {
    this.#isLive = false;
    this.#hasMissed = true;
    if (this.#sink) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    while (!this.#isClosed && !(await this.#readPage()));
    this.#isCatchingUp = false;
  }

  /** @returns Whether nothing is missing, so that the stream is live. */
  async #readPage(): Promise<boolean> {
    const { feed, clock } = this.#deps;
    this.#hasMissed = false;
    const page = await feed.after(this.#projectId, this.#place, PAGE).catch(() => undefined);
    if (!page) {
      await sleep(clock, RETRY_MS);
      return false;
    }
    for (const logged of page) {
      const event = streamedEvent(logged);
      this.#place = event.id;
      this.#send(event);
    }
    if (page.length === 0 && !this.#hasMissed) {
      this.#isLive = true;
      return true;
    }
    await this.#sink?.drained();
    return false;
  }

  #send(event: StreamedEvent): void {
    if (!this.#isClosed && this.#wants(event)) this.#sink?.send(event.sent);
  }

  #wants({ type, sessionId, callId }: StreamedEvent): boolean {
    const { types, interim, ...subject } = this.#filter;
    if (subject.sessionId !== undefined && subject.sessionId !== sessionId) return false;
    if (subject.callId !== undefined && subject.callId !== callId) return false;
    return type === INTERIM ? interim : (types?.has(type) ?? true);
  }
}

/** An event of the stream itself, which has no place among the others. */
export function errorEvent(reason: { readonly code: string; readonly message: string }): string {
  return `event: error\ndata: ${JSON.stringify(reason)}\n\n`;
}
