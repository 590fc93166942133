import type { LiveEventType } from './liveEvent.ts';
import { withEventId } from './liveEvents.ts';

export interface LoggedEvent {
  readonly id: string;
  /** JSON, without the id. */
  readonly text: string;
}

/** Receives the events of one project. */
export interface FeedListener {
  onEvent(event: StreamedEvent): void;
  /** Some may have been missed; those that are kept can be read. */
  onGap(): void;
}

/** The events of projects: those that happen now, and the latest ones. */
export interface EventFeed {
  /** Resolves once the listener misses nothing. @returns Stops it. @throws {CallwayError} `redis_unavailable` */
  listen(projectId: string, listener: FeedListener): Promise<() => void>;
  /**
   * Returns the events after an id, in order. @param id - The event before the first. @throws {CallwayError}
   * `redis_unavailable`
   */
  after(projectId: string, id: string, limit: number): Promise<LoggedEvent[]>;
  /** @throws {CallwayError} `redis_unavailable` */
  has(projectId: string, id: string): Promise<boolean>;
  /** @returns The id of the newest event; `0-0` where there is none. @throws {CallwayError} `redis_unavailable` */
  newest(projectId: string): Promise<string>;
}

/** Parsed once for all streams of a node. */
export interface StreamedEvent {
  readonly id: string;
  readonly type: LiveEventType;
  readonly sessionId: string | undefined;
  readonly callId: string | undefined;
  /** The event as a server-sent event. */
  readonly sent: string;
}

/** @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export function streamedEvent({ id, text }: LoggedEvent): StreamedEvent {
  const { type, sessionId, callId }: Omit<StreamedEvent, 'id' | 'sent'> = JSON.parse(text);
  const sent = `id: ${id}\nevent: ${type}\ndata: ${withEventId(id, text)}\n\n`;
  return { id, type, sessionId, callId, sent };
}
