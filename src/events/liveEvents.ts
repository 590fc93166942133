import { omitUndefined } from '../base/values/omitUndefined.ts';
import { toReleaseName } from '../base/values/releaseName.ts';
import type { NewLiveEvent } from './liveEvent.ts';

/** Tells a project's clients what happens now. */
export interface LiveEvents {
  /** Synchronous, and never throws: a call does not wait for those who watch it. */
  publish(event: NewLiveEvent): void;
}

/** An event that has its id. */
export interface PublishedEvent {
  /** Sorts by its two numbers: milliseconds since the Unix epoch, and a count. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** JSON, without the id. @see withEventId */
  readonly text: string;
  readonly event: NewLiveEvent;
}

/** An event is a message, not a document: what is longer is in the session's history. */
export const MAX_EVENT_CHARACTERS = 16_384;
const MAX_LONG_CHARACTERS = 2_000;

/**
 * An event as JSON, without the id that its place gives it.
 *
 * @param at - When it happened, in ISO 8601.
 */
export function eventText(
  { type, projectId, sessionId, callId, release, data }: NewLiveEvent,
  at: string,
): string {
  const subject = omitUndefined({
    sessionId: sessionId ?? undefined,
    callId: callId ?? undefined,
    release: release === undefined ? undefined : toReleaseName(release),
  });
  const event = { type, at, projectId, ...subject };
  const whole = JSON.stringify({ ...event, data });
  if (whole.length <= MAX_EVENT_CHARACTERS) return whole;
  const shortened = JSON.stringify({ ...event, truncated: true, data: shortenTexts(data) });
  if (shortened.length <= MAX_EVENT_CHARACTERS) return shortened;
  // Many values, rather than long ones.
  const scalars = Object.entries(data).filter(([, value]) => typeof value !== 'object');
  return JSON.stringify({ ...event, truncated: true, data: shortenTexts(Object.fromEntries(scalars)) });
}

/** @param text - The text that {@link eventText} returned. */
export function withEventId(id: string, text: string): string {
  return `{"id":${JSON.stringify(id)},${text.slice(1)}`;
}

function shortenTexts(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'string' && part.length > MAX_LONG_CHARACTERS
        ? `${part.slice(0, MAX_LONG_CHARACTERS - 1)}…`
        : part,
    ),
  );
}
