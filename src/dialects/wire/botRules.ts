import type { BotCheck, BotProblem, BotRules, StreamMessage } from '../dialect.ts';
import { type Fields, fieldsOf, parseJson } from './json.ts';

interface JsonRules {
  /** What a bot may send: the check that each event belongs to. */
  readonly events: Readonly<Record<string, BotCheck>>;
  /** The field that names the stream, and the events that need it. */
  readonly streamId?: { readonly field: string; readonly events: readonly string[] };
  /** @returns What is wrong with the audio. */
  readonly audioProblem: (media: Fields) => string | undefined;
}

/** Bytes of the audio of one message. */
interface Lengths {
  readonly min?: number;
  readonly max?: number;
  readonly multipleOf?: number;
}

/** `RIFF` in base64, as far as its bits are whole characters. */
const WAV_HEADER = /^UklGR/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MAX_SHOWN = 120;

/** The events of Twilio Media Streams that a bot may send, which other carriers have too. */
export const MEDIA_STREAMS_EVENTS = { media: 'formats', mark: 'marks', clear: 'clear' } as const;

/** The rule of a carrier whose messages are JSON with an `event`. */
export function jsonRule({ events, streamId, audioProblem }: JsonRules): BotRules['problemOf'] {
  return (message, id) => {
    const fields = parseJson(message);
    if (fields === undefined) return { check: 'messages', detail: `${shown(message)} is no JSON object` };
    const event = String(fields.event);
    const check = events[event];
    if (check === undefined)
      return { check: 'messages', detail: `the carrier knows no event "${event}" of a bot` };
    if (streamId?.events.includes(event) && fields[streamId.field] !== id) {
      const found = JSON.stringify(fields[streamId.field]) ?? 'absent';
      return { check, detail: `${streamId.field} of "${event}" is ${found}, not the stream's "${id}"` };
    }
    const detail = check === 'formats' ? audioProblem(fieldsOf(fields.media) ?? {}) : undefined;
    return detail === undefined ? undefined : { check, detail };
  };
}

/** Checks base64 of audio in `media.payload`. */
export function payloadOf({ min = 1, max = Number.POSITIVE_INFINITY, multipleOf = 1 }: Lengths) {
  return ({ payload }: Fields): string | undefined => {
    if (typeof payload !== 'string' || !BASE64.test(payload)) return 'media.payload is no base64';
    if (WAV_HEADER.test(payload)) return 'the audio begins with a WAV header; send samples alone';
    const { length } = Buffer.from(payload, 'base64');
    if (length < min || length > max) return `a message has ${length} bytes of audio, not ${min} to ${max}`;
    return length % multipleOf === 0
      ? undefined
      : `a message has ${length} bytes of audio, which is no multiple of ${multipleOf}`;
  };
}

/** The rule of binary messages of 16-bit samples. */
export function oddBytes(message: StreamMessage): BotProblem | undefined {
  const isOdd = typeof message !== 'string' && message.length % Int16Array.BYTES_PER_ELEMENT === 1;
  return isOdd
    ? { check: 'formats', detail: `a binary message has ${message.length} bytes, half a sample at its end` }
    : undefined;
}

/** A message as findings quote it. */
export function shown(message: StreamMessage): string {
  return typeof message === 'string' ? message.slice(0, MAX_SHOWN) : `a message of ${message.length} bytes`;
}
